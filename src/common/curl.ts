/**
 * The curl command of examples: it trusts the certificate of this server, whoever signed it, and shows one where the
 * server asks clients for it.
 */
export function curlOf(tls: { readonly cert: string; readonly clientCa: string | undefined } | undefined): string {
  if (tls === undefined) return 'curl';
  const own = tls.clientCa === undefined ? '' : ' --cert CLIENT.pem --key CLIENT-KEY.pem';
  return `curl --cacert '${tls.cert}'${own}`;
}

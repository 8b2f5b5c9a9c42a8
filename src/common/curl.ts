/**
 * Returns the curl command of examples. It trusts the certificate of this server, whoever signed it, and has a client
 * certificate if the server requests one.
 */
export function curlOf(tls: { readonly cert: string; readonly clientCa: string | undefined } | undefined): string {
  if (tls === undefined) return 'curl';
  const own = tls.clientCa === undefined ? '' : ' --cert CLIENT.pem --key CLIENT-KEY.pem';
  return `curl --cacert '${tls.cert}'${own}`;
}

/**
 * Finds settings that contradict each other. In: the values of all variables. Out: a message for each contradiction,
 * which names the variable and what to do.
 */
import type { z } from 'zod';
import { ANY_ADDRESS, isLoopback } from '../common/loopback.ts';
import type { VARIABLES } from './variables.ts';

export type Values = { readonly [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]['schema']> | undefined };

/** Checks that the login settings are complete and consistent. */
function loginProblems(values: Values): string[] {
  const { access, loginIssuer, loginClientId, loginClientSecret, loginClientKey, loginPasswords } = values;
  const problems: string[] = [];
  if (loginIssuer !== undefined && access !== undefined && access !== 'smart')
    problems.push('LOGIN_ISSUER: expected only while ACCESS is smart');
  if (loginIssuer !== undefined && loginClientId === undefined)
    problems.push('LOGIN_CLIENT_ID: expected with LOGIN_ISSUER');
  if (loginIssuer === undefined && loginClientId !== undefined)
    problems.push('LOGIN_ISSUER: expected with LOGIN_CLIENT_ID');
  if (loginClientSecret !== undefined && loginClientKey !== undefined)
    problems.push('LOGIN_CLIENT_KEY: expected only one of LOGIN_CLIENT_SECRET and LOGIN_CLIENT_KEY, found both');
  if (loginIssuer === undefined && access !== 'jwt' && loginPasswords === 'false')
    problems.push('LOGIN_PASSWORDS: expected true without LOGIN_ISSUER, or nobody could log in');
  return problems;
}

/** Returns the value of a variable with a default: if there are no problems, it has one. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('A variable with a default has no value');
  return value;
}

/** Returns contradictions between variables; each is checked only if both values are valid by themselves. */
export function contradictions(values: Values): string[] {
  const problems: string[] = loginProblems(values);
  const { accessFile, access } = values;
  if (access === 'jwt' && accessFile === undefined)
    problems.push('ACCESS_FILE: expected with ACCESS=jwt: the issuers whose tokens are taken (docs/access.md)');
  if (access !== undefined && access !== 'jwt' && accessFile !== undefined)
    problems.push('ACCESS_FILE: expected only with ACCESS=jwt');
  const { host, audit, pageSize, pageMax, fhirPath, apiPath, demoUser, demoPassword, hsts, baseUrl } = values;
  const { tlsCert, tlsKey, tlsClientCa } = values;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    problems.push(tlsKey === undefined ? 'TLS_KEY: expected with TLS_CERT' : 'TLS_CERT: expected with TLS_KEY');
  if (tlsClientCa !== undefined && tlsCert === undefined) problems.push('TLS_CLIENT_CA: expected only with TLS_CERT');
  if (tlsCert !== undefined && baseUrl?.startsWith('http:'))
    problems.push('BASE_URL: expected an address of https with TLS_CERT');
  if (access === 'smart' && baseUrl === undefined && host !== undefined && ANY_ADDRESS.has(host))
    problems.push(`BASE_URL: expected with ACCESS=smart and HOST=${host}: tokens are for one address`);
  if (hsts !== undefined && hsts > 0 && !(baseUrl?.startsWith('https:') || tlsCert !== undefined)) {
    problems.push('HSTS: expected only with a BASE_URL of https or TLS_CERT: clients then have to come so');
  }
  if (demoUser !== undefined && demoPassword === undefined) problems.push('DEMO_PASSWORD: expected with DEMO_USER');
  if (demoUser === undefined && demoPassword !== undefined) problems.push('DEMO_USER: expected with DEMO_PASSWORD');
  if (audit === 'off' && access !== undefined && access !== 'open') {
    problems.push('AUDIT: expected required or best-effort while ACCESS is not open');
  }
  problems.push(...sinkContradictions(values));
  if (access === 'open' && host !== undefined && !isLoopback(host)) {
    problems.push(
      `HOST: expected a loopback address (127.0.0.1, ::1, localhost) while ACCESS is open, found ${JSON.stringify(host)}: anyone on the network could read every patient`,
    );
  }
  if (pageSize !== undefined && pageMax !== undefined && pageSize > pageMax) {
    problems.push(`PAGE_SIZE: expected at most PAGE_MAX (${pageMax}), found ${pageSize}`);
  }
  if (fhirPath !== undefined && apiPath !== undefined && `${fhirPath}/`.startsWith(`${apiPath}/`)) {
    problems.push(`FHIR_PATH: expected a path outside API_PATH (${apiPath}), found ${JSON.stringify(fhirPath)}`);
  } else if (fhirPath !== undefined && apiPath !== undefined && `${apiPath}/`.startsWith(`${fhirPath}/`)) {
    problems.push(`API_PATH: expected a path outside FHIR_PATH (${fhirPath}), found ${JSON.stringify(apiPath)}`);
  }
  return problems;
}

function sinkContradictions(values: Values): readonly string[] {
  const { audit, access, auditSyslog, auditOtlp } = values;
  const sinks = { AUDIT_JSON: values.auditJson, AUDIT_SYSLOG: auditSyslog, AUDIT_OTLP: auditOtlp };
  const set = Object.entries(sinks).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const isOff = audit === 'off' || (audit === undefined && access === 'open');
  const url = auditOtlp === undefined ? null : URL.parse(auditOtlp);
  return [
    ...(isOff ? set.map(name => `${name}: expected only where there is an audit; AUDIT is off`) : []),
    ...(url !== null && url.protocol !== 'https:' && !isLoopback(url.hostname)
      ? ['AUDIT_OTLP: expected https, for the audit names patients; http only to this machine']
      : []),
    ...((values.auditSyslogCert === undefined) === (values.auditSyslogKey === undefined)
      ? []
      : ['AUDIT_SYSLOG_CERT and AUDIT_SYSLOG_KEY: expected together']),
  ];
}

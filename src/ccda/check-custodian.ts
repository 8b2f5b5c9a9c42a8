/**
 * Checks that the organization which `ccds.yaml` names as custodian exists. In: the searches of the documents and a
 * facade. Out: a warning if no row or several rows match; with no row, documents name another organization.
 */
import type { Facade, RequestContext } from '../facade.ts';
import { createReport, type Problem } from '../mapping/load/problem.ts';
import type { Content } from './content.ts';

/** Throws FhirError, DatabaseError. */
export async function checkCustodian(
  { custodian }: Pick<Content, 'custodian'>,
  facade: Pick<Facade, 'search'>,
  context: RequestContext,
): Promise<readonly Problem[]> {
  if (custodian === undefined) return [];
  const { type, parameters, at } = custodian;
  const { total = 0 } = await facade.search({ type, parameters: [...parameters, ['_summary', 'count']] }, context);
  const report = createReport();
  if (total === 0)
    report.warning(
      'limited-interface',
      at,
      `no ${type} is the custodian: documents name the patient's, or the pack's publisher`,
    );
  if (total > 1)
    report.warning('limited-interface', at, `${total} ${type}s are the custodian: documents name the first`);
  return report.problems();
}

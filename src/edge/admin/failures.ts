import { splitVersion } from '@lapel/schemas/base/package-version';
import type { FailureBreakdown } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import type { FailureGroup } from '../../views/failures.ts';
import { requirePackageOf } from '../../views/transaction-query.ts';
import { periodOf } from '../http/moment.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'failures'>;

const versionOf = ({ value, ...counts }: FailureGroup): FailureBreakdown['versions'][number] => {
  const { package: name, version } = splitVersion(value ?? '');
  return { package: name, version, ...counts };
};

/** Counts the installations that failed in a period: in all, by hour, by version and by error code. */
export async function readFailures(
  { failures }: Services,
  { query }: At<never, never, 'admin/failure-query'>,
): Promise<Answer> {
  requirePackageOf(query);
  const { since: _since, until: _until, ...filter } = query;
  const found = await failures.read({
    ...filter,
    ...periodOf(query),
  });
  const body: FailureBreakdown = {
    since: toUtc(found.since),
    until: toUtc(found.until),
    total: found.total,
    hours: found.hours.map(({ at, ...counts }) => ({ at: toUtc(at), ...counts })),
    versions: found.versions.map(versionOf),
    errors: found.errors.map(({ value, failed, failedBefore }) => ({ code: value ?? '', failed, failedBefore })),
  };
  return { status: 200, body };
}

import type { CountedApplication } from '../../core/applications/application-repository.ts';
import type { ApplicationRow, ApplicationRowQuery } from '../../platform/contracts/types.ts';
import { toUtc } from '../../runtime/clock.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';

/** Makes the row of a list from an application, without its key and its secret. */
function applicationRow(application: CountedApplication): ApplicationRow {
  const { remoteSupportEvent: _, ...settings } = application.settings; // a deprecated setting, to which no webhook is ever sent
  return {
    applicationId: application.applicationId,
    developerId: application.developerId,
    name: application.name,
    createdAt: toUtc(application.createdAt),
    activated: application.activated,
    keyReplacedAt: utcOrNull(application.keyReplacedAt),
    hasKey: application.authenticationKey !== null,
    settings,
  };
}

export async function listAllApplications(
  { applications }: AdminServices,
  input: Input<unknown, unknown, ApplicationRowQuery>,
): Promise<Answer> {
  const page = await applications.listAll(input.query);
  const headers = page.next === undefined ? {} : nextPageAfter(input, input.query, { after: page.next });
  return { status: 200, headers, body: { applications: page.rows.map(applicationRow) } };
}

export async function readApplication(
  { applications }: AdminServices,
  { params }: At<'applicationId'>,
): Promise<Answer> {
  return { status: 200, body: applicationRow(await applications.findCounted(params.applicationId)) };
}

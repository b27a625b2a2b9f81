import type { ApplicationRow, ApplicationRowQuery } from '@lapel/schemas/contracts/types';
import type { CountedApplication } from '../../core/applications/application-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { changedValues } from '../http/changed-values.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { Administrator } from './authorize.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'applications'>;

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
    authentication: application.authentication,
    settings,
  };
}

export async function listAllApplications(
  { applications }: Services,
  input: Input<unknown, unknown, ApplicationRowQuery, Administrator>,
): Promise<Answer> {
  const page = await applications.listAll(input.query);
  const headers = page.next === undefined ? {} : nextPageAfter(input, input.query, { after: page.next });
  return {
    status: 200,
    headers,
    body: { applications: page.rows.map(applicationRow).map(shownTo(input.caller).application) },
  };
}

/** Changes how an application gets its tokens. */
export async function updateApplication(
  { applications }: Services,
  {
    params: { applicationId },
    body: { authentication },
    caller,
    changed,
  }: At<'applicationId', 'admin/application-update'>,
): Promise<Answer> {
  const before = await applications.certificates.setAuthentication(applicationId, authentication);
  await changed(changedValues({ authentication: before }, { authentication }));
  const { application } = shownTo(caller);
  return { status: 200, body: application(applicationRow(await applications.findCounted(applicationId))) };
}

export async function readApplication(
  { applications }: Services,
  { params, caller }: At<'applicationId'>,
): Promise<Answer> {
  const { application } = shownTo(caller);
  return { status: 200, body: application(applicationRow(await applications.findCounted(params.applicationId))) };
}

import { NO_STORE } from '../http/no-store.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, List } from './services.ts';

type Services = Pick<AdminServices, 'applications' | 'formatTime'>;

export async function createApplication(
  { applications }: Services,
  { params, body, changed }: At<'developerId', 'admin/application-create'>,
): Promise<Answer> {
  const created = await applications.create(params.developerId, body);
  await changed({}, [{ kind: 'application', id: created.applicationId }]);
  return { status: 201, headers: NO_STORE, body: created };
}

export async function listApplications(
  { applications, formatTime }: Services,
  input: List<'developerId'>,
): Promise<Answer> {
  const page = await applications.list(input.params.developerId, input.query);
  const rows = page.applications.map(({ applicationId, developerId, name, createdAt }) => ({
    applicationId,
    developerId,
    name,
    createdAt: formatTime(createdAt),
  }));
  const headers = nextPage(input, input.query, page.total);
  return { status: 200, headers, body: { applications: rows, total: page.total } };
}

export async function replaceSecret(
  { applications }: Services,
  { params, changed }: At<'applicationId'>,
): Promise<Answer> {
  const replaced = await applications.replaceSecret(params.applicationId);
  await changed({ replaced: ['secret'] });
  return { status: 201, headers: NO_STORE, body: replaced };
}

export async function deleteApplication({ applications }: Services, { params }: At<'applicationId'>): Promise<Answer> {
  await applications.remove(params.applicationId);
  return { status: 204 };
}

import type { SchemaTypes } from '../../platform/contracts/types.ts';
import { changedValues } from '../http/changed-values.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, List } from './services.ts';

export async function createDeveloper(
  { developers }: AdminServices,
  { body, changed }: At<never, 'admin/developer-create'>,
): Promise<Answer> {
  const created = await developers.create(body);
  await changed({}, [{ kind: 'developer', id: created.developerId }]);
  return { status: 201, body: created };
}

export async function listDevelopers({ developers }: AdminServices, input: List): Promise<Answer> {
  const body = await developers.list(input.query);
  return { status: 200, headers: nextPage(input, input.query, body.total), body };
}

/** Reads a developer, with the usage and limits of its quotas. */
export async function readDeveloper(
  { developers, quotas }: AdminServices,
  { params }: At<'developerId'>,
): Promise<Answer> {
  const developer = await developers.find(params.developerId);
  const { packages, versions, storedBytes } = quotas.limits;
  const body: SchemaTypes['admin/developer-details'] = {
    ...developer,
    usage: await quotas.usageOf(developer.developerId),
    quotas: { packages: packages || null, versions: versions || null, storedBytes: storedBytes || null },
  };
  return { status: 200, body };
}

export async function deleteDeveloper({ developers }: AdminServices, { params }: At<'developerId'>): Promise<Answer> {
  await developers.remove(params.developerId);
  return { status: 204 };
}

export async function updateDeveloper(
  { developers }: AdminServices,
  { params, body, changed }: At<'developerId', 'admin/developer-update'>,
): Promise<Answer> {
  const before = await developers.find(params.developerId);
  const after = await developers.update(params.developerId, body);
  await changed(changedValues(before, after));
  return { status: 200, body: after };
}

import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { changedValues } from '../http/changed-values.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, List } from './services.ts';

type Services = Pick<AdminServices, 'developers' | 'quotas'>;

type Developer = SchemaTypes['admin/developer'];

const stateOf = ({ name, deviceLimit, softwareSignatures, certificateChange }: Developer): unknown => [
  name,
  deviceLimit,
  softwareSignatures,
  certificateChange,
];
const tagged = (developer: Developer): Record<string, string> => ({ ETag: entityTag(stateOf(developer)) });

export async function createDeveloper(
  { developers }: Services,
  { body, changed }: At<never, 'admin/developer-create'>,
): Promise<Answer> {
  const created = await developers.create(body);
  await changed({}, [{ kind: 'developer', id: created.developerId }]);
  return { status: 201, body: created };
}

export async function listDevelopers({ developers }: Services, input: List): Promise<Answer> {
  const body = await developers.list(input.query);
  return { status: 200, headers: nextPage(input, input.query, body.total), body };
}

/** Reads a developer, with the usage and limits of its quotas. */
export async function readDeveloper({ developers, quotas }: Services, { params }: At<'developerId'>): Promise<Answer> {
  const developer = await developers.find(params.developerId);
  const { packages, versions, storedBytes } = quotas.limits;
  const body: SchemaTypes['admin/developer-details'] = {
    ...developer,
    usage: await quotas.usageOf(developer.developerId),
    quotas: { packages: packages || null, versions: versions || null, storedBytes: storedBytes || null },
  };
  return { status: 200, headers: tagged(developer), body };
}

export async function deleteDeveloper({ developers }: Services, { params }: At<'developerId'>): Promise<Answer> {
  await developers.remove(params.developerId);
  return { status: 204 };
}

export async function updateDeveloper(
  { developers }: Services,
  { params, body, headers, changed }: At<'developerId', 'admin/developer-update'>,
): Promise<Answer> {
  const check = matcher(headers);
  let before: Developer | undefined;
  const developer = await developers.update(params.developerId, body, (known) => {
    before = known;
    check(stateOf(known));
  });
  await changed(changedValues(before ?? {}, developer));
  return { status: 200, headers: tagged(developer), body: developer };
}

import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Administration } from '../../account/access.ts';
import { adminCalls } from '../plan/admin-calls.ts';
import { pick } from '../plan/compare.ts';
import type { ExportedFile } from './write-yaml.ts';

type Content = NonNullable<SchemaTypes['files/configuration']['administration']>;
type Developer = NonNullable<Content['developers']>[number];
type Batch = NonNullable<Developer['enrolmentBatches']>[number];

const BATCH = ['name', 'expiresAt', 'mostDevices', 'approval', 'registered'] as const;

/** A batch as the files have it: what it does not have is left out. */
const batchOf = (one: SchemaTypes['admin/enrolment-batch']): Batch => {
  const { deviceIds, claimCertificate, authorityId, certificateDays } = one;
  return {
    ...pick(one, BATCH),
    ...(deviceIds && { deviceIds }),
    ...(claimCertificate !== null && { claimCertificate }),
    ...(authorityId !== null && { authorityId }),
    ...(certificateDays !== null && { certificateDays }),
  } as Batch;
};

/** The names that only one object has: others could not be found again. */
function onlyOnce<One extends { name: string }>(all: readonly One[], note: (name: string) => void): One[] {
  return all.filter(({ name }) => {
    const isOnly = all.filter((one) => one.name === name).length === 1;
    if (!isOnly) note(name);
    return isOnly;
  });
}

/** Developers with their contracts, applications, people and enrolment batches; and the people of administration. */
export async function exportAdministration(administration: Administration): Promise<ExportedFile> {
  const calls = adminCalls(administration);
  const notes = [
    'Secrets, tokens and codes are shown by nothing. For a new one, secretTo, tokenTo or codeTo names its file.',
  ];
  const developers: Developer[] = [];
  for (const one of await calls.all('list the developers', 'listDevelopers', {}, 'developers')) {
    const { developerId, removalId } = one;
    if (removalId !== null) {
      notes.push(`${developerId} is left out: it is being removed.`);
      continue;
    }
    const left = (kind: string) => (name: string) =>
      notes.push(`${kind} ${name} of ${developerId} is left out: there is another of this name.`);
    const of = { query: { developerId } };
    const what = `of ${developerId}`;
    const applications = await calls.all(`list the applications ${what}`, 'listAllApplications', of, 'applications');
    const { members } = await calls.call(`list the people ${what}`, 'listMembers', { developerId });
    const batches = await calls.all(`list the batches ${what}`, 'listEnrolmentBatches', { developerId }, 'batches');
    const open = batches.filter(({ state }) => state === 'open');
    developers.push({
      ...pick(one, ['developerId', 'name', 'deviceLimit', 'softwareSignatures', 'certificateChange']),
      applications: applications.map((row) => pick(row, ['applicationId', 'name', 'authentication'])),
      members: onlyOnce(members, left('member')).map((row) => pick(row, ['name', 'role'])),
      enrolmentBatches: onlyOnce(open, left('enrolment batch')).map(batchOf),
    });
  }
  const rows = await calls.all('list the people', 'listPeople', {}, 'people');
  const people = rows.map((row) => pick(row, ['personId', 'name', 'role', 'disabled']));
  return { name: 'administration.yaml', content: { administration: { developers, people } }, notes };
}

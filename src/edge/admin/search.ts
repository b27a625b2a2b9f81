import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SearchQuery, SearchResults } from '@lapel/schemas/contracts/types';
import type { Answer, Input } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<
  AdminServices,
  'overview' | 'findDelivery' | 'fleet' | 'applications' | 'developers' | 'softwareOverview'
>;

type Result = SearchResults['results'][number];
type Kind = Result['kind'];

const MOST = 20;
/** A text that may be the beginning of a deviceId, which has at most 15 digits. */
const DIGITS = /^\d{1,15}$/;
/** The longest transaction number that JavaScript can represent exactly. */
const NUMBER = /^\d{1,16}$/;
const DELIVERY = /^msg_[0-9a-f]{32}$/;

const result = (kind: Kind, id: string | number, parent: string | null): Result => ({ kind, id: String(id), parent });

async function transaction({ overview }: Services, q: string): Promise<Result[]> {
  if (!NUMBER.test(q) || Number(q) === 0 || !Number.isSafeInteger(Number(q))) return [];
  try {
    const { record } = await overview.find(Number(q));
    return [result('transaction', record.transactionId, record.deviceId)];
  } catch (error) {
    if (error instanceof DomainError && error.code === 'TRANSACTION_NOT_FOUND') return [];
    throw error;
  }
}

async function delivery({ findDelivery }: Services, q: string): Promise<Result[]> {
  const applicationId = DELIVERY.test(q) ? await findDelivery(q) : undefined;
  return applicationId === undefined ? [] : [result('delivery', q, applicationId)];
}

async function devices({ fleet }: Services, q: string): Promise<Result[]> {
  if (!DIGITS.test(q)) return [];
  const found = await fleet.list({ prefix: q, terms: {}, order: 'deviceId', limit: MOST });
  return found.rows.map(({ deviceId, developerId }) => result('device', deviceId, developerId));
}

/**
 * Finds objects by a text: first those whose identifier is the text or begins with it, then those whose name contains
 * it.
 */
export async function search(
  services: Services,
  { query: { q: given } }: Input<unknown, unknown, SearchQuery>,
): Promise<Answer> {
  const { applications, developers, softwareOverview } = services;
  const q = given.trim();
  if (q === '') return { status: 200, body: { results: [] } };
  const found = await Promise.all([
    delivery(services, q),
    devices(services, q),
    transaction(services, q),
    applications
      .search(q, MOST)
      .then((rows) => rows.map((row) => result('application', row.applicationId, row.developerId))),
    developers.search(q, MOST).then((rows) => rows.map((row) => result('developer', row.developerId, null))),
    softwareOverview.search(q, MOST).then((rows) => rows.map((row) => result('package', row.package, row.line))),
  ]);
  return { status: 200, body: { results: fair(found) } };
}

/**
 * Shortens the results to MOST in all. Each kind of object gets the same number of results, so that no kind crowds out
 * the others; results that still fit are added in the order of the kinds.
 */
function fair(found: readonly Result[][]): Result[] {
  let each = 0;
  while (each < MOST && found.reduce((sum, rows) => sum + Math.min(rows.length, each + 1), 0) <= MOST) each += 1;
  const taken = found.map((rows) => rows.slice(0, each));
  let room = MOST - taken.flat().length;
  for (const [index, rows] of found.entries()) {
    const more = rows.slice(each, each + room);
    taken[index]?.push(...more);
    room -= more.length;
  }
  return taken.flat();
}

import type { IncomingHttpHeaders } from 'node:http';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices } from './services.ts';

/** Stores the answer with the Idempotency-Key, in the unit of work that makes the object. */
type Keep<Given extends Answer> = (unit: UnitOfWork, answer: Given) => Promise<void>;

/**
 * Answers a request whose header Idempotency-Key may say that it is a repetition: then nothing is made, and the first answer
 * is given again, with the header Idempotency-Replayed. Without a key `make` gets no `keep`.
 */
export async function answeredOnce<Given extends Answer>(
  { transactions }: Pick<ApiServices, 'transactions'>,
  applicationId: string,
  headers: IncomingHttpHeaders,
  request: object,
  make: (keep?: Keep<Given>) => Promise<Given>,
): Promise<Given> {
  const key = readIdempotencyKey(headers['idempotency-key']);
  if (key === undefined) return make();
  const asked = { applicationId, key, request: JSON.stringify(request) };
  const { answer, replayed } = await transactions.once(asked, async (keep) =>
    JSON.stringify(await make((unit, made) => keep(unit, JSON.stringify(made)))),
  );
  const kept = JSON.parse(answer) as Given;
  return replayed ? { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } } : kept;
}

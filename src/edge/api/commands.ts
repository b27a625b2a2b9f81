import type { Operation, Request } from '../../core/transactions/operations.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

type Services = Pick<ApiServices, 'transactions'>;
type AtDevice<Body, Query> = Input<{ applicationId: string; deviceId: string }, Body, Query>;
type Asked<Name extends Operation> = Extract<Request, { operation: Name }>['asked'];

/** Makes the handler of an operation whose parameters are in the body. Its function name is that of the operation. */
export function command<Name extends Operation>(operation: Name) {
  const handler = (services: Services, input: AtDevice<Asked<Name>, unknown>): Promise<Answer> =>
    submit(services, input, { operation, asked: input.body ?? {} } as Request);
  return Object.defineProperty(handler, 'name', { value: operation });
}

/**
 * Makes the handler of an operation whose parameters are in the query. The headers are removed, so that an
 * Idempotency-Key is ignored: it has a meaning on POST, PUT and DELETE only, and each GET asks the device again.
 */
export function commandOfQuery<Name extends Operation>(operation: Name) {
  const handler = (services: Services, input: AtDevice<unknown, Asked<Name>>): Promise<Answer> =>
    submit(services, { ...input, headers: {} }, { operation, asked: input.query } as Request);
  return Object.defineProperty(handler, 'name', { value: operation });
}

/**
 * Stores a transaction and returns the specification's "transaction response": 201, `Location` and the transactionId. A
 * repeated request with the same `Idempotency-Key` gets the same answer and is carried out once (contract, section 1).
 */
async function submit(
  { transactions }: Services,
  { params, baseUrl, headers }: Pick<AtDevice<unknown, unknown>, 'params' | 'baseUrl' | 'headers'>,
  request: Request,
): Promise<Answer> {
  const { applicationId, deviceId } = params;
  const submission = { applicationId, deviceId, ...request };
  const transactionsUrl = `${baseUrl}/v1/applications/${applicationId}/devices/${deviceId}/transactions`;
  const answerOf = (transactionId: number): Answer => ({
    status: 201,
    headers: { Location: `${transactionsUrl}/${transactionId}` },
    body: { transactionId },
  });

  const key = readIdempotencyKey(headers['idempotency-key']);
  if (key === undefined) return answerOf(await transactions.submit(submission));
  const { operation, asked } = request;
  // The hash of this text tells whether a later request with the same key is the same request. It is stored for a day,
  // so the text must stay the same from release to release.
  const parameters = Array.isArray(asked) ? { entries: asked } : asked;
  const repeatable = {
    applicationId,
    key,
    request: JSON.stringify({ applicationId, deviceId, operation, parameters }),
  };
  const { answer, replayed } = await transactions.once(repeatable, async (keep) => {
    let text = '';
    await transactions.submit(submission, (unit, transactionId) => {
      text = JSON.stringify(answerOf(transactionId));
      return keep(unit, text);
    });
    return text;
  });
  const kept = JSON.parse(answer) as Answer;
  return replayed ? { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } } : kept;
}

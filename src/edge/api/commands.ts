import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Operation, Request } from '../../core/transactions/operations.ts';
import type { Terms } from '../../core/transactions/terms.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

type Services = Pick<ApiServices, 'transactions'>;
type AtDevice<Body, Query> = Input<{ applicationId: string; deviceId: string }, Body, Query>;
type Asked<Name extends Operation> = Extract<Request, { operation: Name }>['asked'];

type TermsQuery = SchemaTypes['rest/network-query'];

/** The terms that a query names. `supersede=false` is the default, so it is no term. */
const termsOf = ({ expireIn, answerWithin, supersede, revertAfter }: TermsQuery): Terms => ({
  ...(expireIn !== undefined && { expireIn }),
  ...(answerWithin !== undefined && { answerWithin }),
  ...(supersede === 'true' && { supersede: true }),
  ...(revertAfter !== undefined && { revertAfter }),
});

/** Makes the handler of an operation whose parameters are in the body. Its function name is that of the operation. */
export function command<Name extends Operation>(operation: Name) {
  const handler = (services: Services, input: AtDevice<Asked<Name>, TermsQuery>): Promise<Answer> =>
    submit(services, input, { operation, asked: input.body ?? {} } as Request, termsOf(input.query));
  return Object.defineProperty(handler, 'name', { value: operation });
}

/**
 * Makes the handler of an operation whose parameters are in the query. The headers are removed, so that an
 * Idempotency-Key is ignored: it has a meaning on POST, PUT and DELETE only, and each GET asks the device again.
 */
export function commandOfQuery<Name extends Operation>(operation: Name) {
  const handler = (services: Services, input: AtDevice<unknown, Asked<Name> & TermsQuery>): Promise<Answer> => {
    const { expireIn, answerWithin, supersede, ...asked } = input.query;
    const terms = termsOf({ expireIn, answerWithin, supersede } as TermsQuery);
    return submit(services, { ...input, headers: {} }, { operation, asked } as Request, terms);
  };
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
  terms: Terms,
): Promise<Answer> {
  const { applicationId, deviceId } = params;
  const submission = { applicationId, deviceId, ...request, terms };
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
  // so the text must stay the same from release to release: a request without terms adds nothing to it.
  const parameters = Array.isArray(asked) ? { entries: asked } : asked;
  const repeatable = {
    applicationId,
    key,
    request: JSON.stringify({ applicationId, deviceId, operation, parameters, ...terms }),
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

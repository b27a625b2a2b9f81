import type { Request } from '../../core/transactions/submission.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

/**
 * Stores a transaction and returns the specification's "transaction response": 201, `Location` and the transactionId. A
 * repeated request with the same `Idempotency-Key` gets the same answer and is carried out only once (contract, section
 * 1).
 */
export async function submit(
  { transactions }: Pick<ApiServices, 'transactions'>,
  {
    params,
    baseUrl,
    headers,
  }: Pick<Input<{ applicationId: string; deviceId: string }>, 'params' | 'baseUrl' | 'headers'>,
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
  const repeatable = { applicationId, key, request: JSON.stringify(submission) };
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

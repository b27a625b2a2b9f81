import type { Answer, Input } from '../http/route.ts';
import type { Request } from '../transactions/submission.ts';
import type { ApiServices } from './services.ts';

/** Stores a transaction and answers the specification's "transaction response": 201, `Location` and the transactionId. */
export async function submit(
  { transactions }: Pick<ApiServices, 'transactions'>,
  { params, baseUrl }: Pick<Input<{ applicationId: string; deviceId: string }>, 'params' | 'baseUrl'>,
  request: Request,
): Promise<Answer> {
  const { applicationId, deviceId } = params;
  const transactionId = await transactions.submit({ applicationId, deviceId, ...request });
  const Location = `${baseUrl}/v1/applications/${applicationId}/devices/${deviceId}/transactions/${transactionId}`;
  return { status: 201, headers: { Location }, body: { transactionId } };
}

import { isRecord } from '../mqtt/messages.ts';

/** The device and the transaction that the text of a webhook is about, as far as it can be read. */
export function aboutIn(body: Buffer): { deviceId?: string; transactionId?: number } {
  let event: unknown;
  try {
    event = JSON.parse(body.toString());
  } catch {
    return {};
  }
  if (!isRecord(event) || !isRecord(event['data'])) return {};
  const { deviceId, transaction } = event['data'];
  const transactionId = isRecord(transaction) ? transaction['transactionId'] : undefined;
  return {
    ...(typeof deviceId === 'string' && { deviceId }),
    ...(typeof transactionId === 'number' && { transactionId }),
  };
}

import { isRecord } from '../mqtt/messages.ts';

/** The device and the transaction that a webhook names, as far as its body, which is not verified, can be read. */
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

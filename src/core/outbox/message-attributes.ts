import type { Attributes } from '../../runtime/tracing.ts';

interface About {
  transactionId: number;
  deviceId: string;
  applicationId: string;
  operation: string;
}

/** The attributes of the spans of messages about a transaction. */
export const messageAttributes = ({ transactionId, deviceId, applicationId, operation }: About): Attributes => ({
  'messaging.system': 'mqtt',
  'lapel.transaction_id': transactionId,
  'lapel.device_id': deviceId,
  'lapel.application_id': applicationId,
  'lapel.operation': operation,
});

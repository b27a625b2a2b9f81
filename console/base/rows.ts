/** Rows as the service sends them, as far as pages show them. Times are date-times in UTC. */

export interface DeviceRow {
  deviceId: string;
  developerId: string;
  applicationId: string | null;
  activation: 'deactivated' | 'activating' | 'activated';
  blocked: boolean;
  connected: boolean;
  lastSeenAt: string | null;
  firmware: string | null;
  battery: number | null;
  unfinished: number;
}

export type TransactionStatus = 'queued' | 'delivered' | 'processing' | 'succeeded' | 'failed' | 'cancelled';

export interface TransactionRow {
  transactionId: number;
  deviceId: string;
  applicationId: string;
  operation: string;
  subject: string | null;
  status: TransactionStatus;
  attempts: number;
  progress: number | null;
  createdAt: string;
  publishedAt: string | null;
  deliveredAt: string | null;
  updatedAt: string;
  completedAt: string | null;
  error: { code: string; message: string } | null;
  warning: string | null;
  deliveryId: string | null;
}

export interface DeliveryRow {
  deliveryId: string;
  applicationId: string;
  deviceId: string | null;
  transactionId: number | null;
  setting: string;
  type: string;
  url: string | null;
  status: 'pending' | 'delivered' | 'exhausted' | 'gone';
  attempts: number;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Transaction extends TransactionRow {
  parameters: object | null;
  result: object | null;
  webhook: DeliveryRow | null;
}

export interface Delivery extends DeliveryRow {
  body: string;
  headers: Record<string, string>;
  failedAttempts: {
    attempt: number;
    at: string;
    statusCode: number | null;
    error: string | null;
    durationMs: number;
    answer: string | null;
  }[];
}

export interface ReceiverRow {
  applicationId: string;
  setting: string;
  url: string | null;
  state: 'healthy' | 'slow' | 'failing';
  pending: number;
  oldestDueAt: string | null;
  failingSince: string | null;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
}

export interface Summary {
  at: string;
  devices: { total: number; activated: number; connected: number };
  transactions: { unfinished: number; oldestAt: string | null };
  deliveries: { pending: number; oldestDueAt: string | null };
  receivers: { failing: number; slow: number };
  commitP99Ms: number | null;
  loopP99Ms: number | null;
  nodes: number;
  version: string;
}

export interface HistoryPoint {
  at: string;
  devices: number;
  activated: number;
  connected: number;
  due: number;
  oldestDueSeconds: number;
  pending: number;
  failingReceivers: number;
  created: number;
  finished: number;
  failed: number;
  attemptsFailed: number;
  loopP99Ms: number | null;
}

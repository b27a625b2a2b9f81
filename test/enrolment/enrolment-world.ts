import type { CheckedAnswer } from '../contract/checked-client.ts';
import type { World } from '../world.ts';

/** The nonce of all devices of the tests, unless they say another one. */
export const NONCE = 'c0u7b1d2Vq3xZs9JkLmN4pRt';

interface Asked {
  deviceId: string;
  code: string;
  nonce?: string;
  csr?: string;
}

interface AuditEntry {
  action: string;
  address: string | null;
  details: { refused?: number } & Record<string, unknown>;
}

/** Two developers, `dev` and `other`, and what the tests of enrolment do most. */
export async function startEnrolment(world: World) {
  let [admin, anonymous] = [world.admin(), world.anonymous()];
  for (const developerId of ['dev', 'other'])
    await admin.post('/admin/v1/developers', { json: { developerId, name: developerId } });

  /** Makes a batch of ten devices for a year. */
  const create = (wanted: object = {}, developerId = 'dev'): Promise<CheckedAnswer> =>
    admin.post(`/admin/v1/developers/${developerId}/enrolment-batches`, {
      json: { name: 'a batch', expiresAt: '2027-11-20T00:00:00Z', mostDevices: 10, ...wanted },
    });

  const ask = ({ deviceId, code, nonce = NONCE, csr }: Asked): Promise<CheckedAnswer> =>
    anonymous.post('/v1/enrolments', {
      json: { deviceId, code, nonce, ...(csr !== undefined && { csr }) },
      headers: { 'x-forwarded-proto': 'https' }, // counts where the test is a trusted proxy
    });

  return {
    admin,
    create,
    ask,
    batch: async (wanted: object = {}, developerId = 'dev') => {
      const { status, body } = await create(wanted, developerId);
      if (status !== 201) throw new Error(`no batch: ${status} ${JSON.stringify(body)}`);
      return body as { batchId: string; code: string } & Record<string, unknown>;
    },
    async enrol(asked: Asked): Promise<{ credential: string }> {
      const { status, body } = await ask(asked);
      if (status !== 201) throw new Error(`not enrolled: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    /** The number of requests with this outcome. */
    async refusal(outcome: string): Promise<number> {
      const found = await world.service.metrics.registry.getSingleMetric('lapel_enrolments_total')?.get();
      return found?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
    },
    /** Whether a device is let in; its connection ends again. */
    async isLetIn(deviceId: string, credential: string): Promise<boolean> {
      const link = await world.open({ deviceId, credential });
      const { returnCode } = await link.login();
      link.socket.destroy();
      return returnCode === 0;
    },
    /** The entries of the audit log with this action, the newest first. */
    async audited(action: string) {
      await world.idle();
      const { entries } = (await admin.get('/admin/v1/audit?limit=500')).body;
      return (entries as AuditEntry[]).filter((entry) => entry.action === action);
    },
    /** Takes the new ports after a restart. */
    renew(): void {
      [admin, anonymous] = [world.admin(), world.anonymous()];
    },
  };
}

import type { Application } from '../account/access.ts';
import { type Followed, inParallel, stateText } from '../device/follow-transactions.ts';
import type { Terms } from '../device/terms-options.ts';
import { Failure } from '../show/failure.ts';
import type { Screen } from '../show/terminal.ts';

/** Begins the installation on each device (op 28); a refusal for one device does not affect the others. */
export async function beginInstallations(
  { devices, terms }: { devices: readonly string[]; terms: Terms },
  software: { package: string; version: string },
  { application, screen }: { application: Application; screen: Screen },
): Promise<Followed[]> {
  const installations = devices.map(
    (deviceId): Followed => ({ deviceId, transactionId: null, status: 'refused', progress: null, error: null }),
  );
  await inParallel(installations, async (installation) => {
    const { deviceId } = installation;
    try {
      const { transactionId } = await application.call(`install on ${deviceId}`, (lapel) =>
        lapel.installSoftware({ deviceId, body: software, query: terms }),
      );
      installation.transactionId = transactionId;
      installation.status = 'queued';
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { refusal, message, advice } = error;
      const faults = refusal?.details.map(({ loc, msg }) => ` ${loc.join('.')}: ${msg};`).join('') ?? '';
      const text = `${refusal?.reason ?? message}${faults}${advice[0] ? ` ${advice[0]}` : ''}`;
      installation.error = { code: refusal ? String(refusal.status) : 'UNREACHABLE', message: text };
    }
  });
  for (const installation of installations) {
    if (installation.status === 'refused') screen.line(`${installation.deviceId}  ${stateText(installation)}`);
  }
  return installations;
}

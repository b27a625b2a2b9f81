import type { Command } from './command-line.ts';
import { obtainAccounts, saveAccounts } from './customer/accounts.ts';
import { createApplication } from './customer/application.ts';
import { startLoad } from './customer/load.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import { oneGroup } from './fleet/member.ts';
import { type ProgressStream, showProgress } from './progress.ts';
import type { Report } from './report.ts';
import { pause, systemTimers, type Timers } from './timers.ts';

const CONNECT_ATTEMPTS = 5;
const TROUBLES_KEPT = 20;

/** Resolves, with nothing, when `signal` is aborted. */
const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Resolves when the run is to end: after a duration, after quiet, or when `stopped` is aborted. */
function theEnd(command: Command, fleet: Fleet, stopped: AbortSignal, timers: Timers): Promise<undefined> {
  return new Promise((resolve) => {
    let cancel = (): void => {};
    const end = (): void => {
      cancel();
      resolve(undefined);
    };
    void aborted(stopped).then(end);
    const { duration, untilIdle } = command;
    if (duration !== undefined) cancel = timers.after(duration, end);
    if (untilIdle === undefined) return;
    let last = timers.now();
    const active = (): void => {
      last = timers.now();
    };
    fleet.events.on('command', active).on('acknowledged', active).on('online', active).on('told', active);
    const look = (): void => {
      const rest = last + untilIdle - timers.now();
      if (rest <= 0 && fleet.counts().outstanding === 0) end();
      else cancel = timers.after(Math.max(rest, 50), look);
    };
    look();
  });
}

/**
 * One run of the simulator: obtains devices, connects them, activates and loads them if wanted, and ends as the command
 * line says or when `stopped` is aborted. Throws an Error in words when nobody could connect.
 */
export async function run(
  command: Command,
  { stopped, stream, timers = systemTimers }: { stopped: AbortSignal; stream: ProgressStream; timers?: Timers },
): Promise<Report> {
  const began = timers.now();
  const troubles: string[] = [];
  let troublesNotShown = 0;
  const { seed, oldFirmware, behaviour, absence, equipment, life } = command;
  const accounts = await obtainAccounts(command);
  if (command.saveFile !== undefined) saveAccounts(command.saveFile, accounts);

  await using fleet = createFleet({
    members: oneGroup(accounts, { seed, oldFirmware, behaviour, absence, equipment, life }),
    url: command.mqtt,
    seed,
    connectRate: command.connectRate,
    connectAttempts: CONNECT_ATTEMPTS,
    clean: command.clean,
    downloadFolder: command.downloadFolder,
    timers,
    ...(command.stateFolder !== undefined && { stateFolder: command.stateFolder }),
    onTrouble(deviceId, text) {
      if (troubles.length < TROUBLES_KEPT) troubles.push(`${deviceId}: ${text}`);
      else troublesNotShown += 1;
    },
  });
  const stopProgress = showProgress({ fleet, stream, timers });
  try {
    const givenUp = (await Promise.race([fleet.connect(), aborted(stopped)])) ?? [];
    const [first] = givenUp;
    if (first && givenUp.length === accounts.length) {
      throw new Error(`nobody could connect to ${command.mqtt}: ${first.error.message}`);
    }
    for (const { deviceId, error } of givenUp.slice(0, TROUBLES_KEPT)) troubles.push(`${deviceId}: ${error.message}`);

    const end = theEnd(command, fleet, stopped, timers);
    const { application: wanted } = command;
    const application =
      wanted && createApplication({ ...wanted, now: timers.now, rest: (ms) => pause(timers, ms, stopped) });
    // A device that never answers its activation must not outlast the run.
    const activated =
      application && !stopped.aborted ? await Promise.race([application.activate(fleet), end]) : undefined;
    const load =
      application && activated && wanted.load > 0 && !stopped.aborted
        ? startLoad({ application, devices: activated, perSecond: wanted.load, seed: command.seed, timers })
        : undefined;
    await end;
    await load?.stop();
    const report: Report = {
      seed: command.seed,
      seconds: (timers.now() - began) / 1000,
      fleet: fleet.counts(),
      neverConnected: givenUp.length,
      activated: activated ? activated.length : null,
      load: load?.counts() ?? null,
      troubles,
      troublesNotShown,
    };
    await fleet.disconnect();
    return report;
  } finally {
    stopProgress();
  }
}

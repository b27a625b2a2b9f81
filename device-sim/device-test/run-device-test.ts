import { isRecord } from '../mqtt/messages.ts';
import { createRandom, deriveSeed } from '../random.ts';
import { type OwnPace, startOwnPace } from '../scenario/own-pace.ts';
import { Unreachable } from '../scenario/reach.ts';
import { systemTimers } from '../timers.ts';
import { CASES, orderOf } from './cases.ts';
import { createCommandMaker } from './command-maker.ts';
import { readContract } from './contract.ts';
import { type CaseRecord, type DeviceTestRecord, verdictsOf } from './device-test-record.ts';
import type { DeviceTestSettings } from './device-test-settings.ts';
import { noFigures } from './drive.ts';
import { type Secured, type Transport, usesTls } from './entrance.ts';
import { startFileHost } from './file-host.ts';
import { createJournal } from './journal.ts';
import { createJudge } from './judge.ts';
import { type OwnAuthority, openOwnAuthority } from './own-authority.ts';
import { createPackageFiles } from './package-files.ts';
import type { Received } from './received.ts';
import { responseTo } from './respond.ts';
import { type ServiceEnd, startServiceEnd } from './service-end.ts';
import { connected, type Stage } from './stage.ts';
import { createWaits } from './waits.ts';
import { createAlarms } from './watch.ts';

interface Outside {
  /** Aborted by Ctrl-C. */
  readonly stopped: AbortSignal;
  /** Prints a line for the person at the device. */
  readonly say: (text: string) => void;
}

/** An IPv6 address is in brackets before a port. */
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const WAYS: Readonly<Record<Transport, string>> = {
  mqtt: 'MQTT without TLS',
  mqtts: 'MQTT over TLS',
  ws: 'MQTT over WebSocket without TLS, at any path',
  wss: 'MQTT over WebSocket with TLS, at any path',
};

function introduce(
  { transport, publicHost, account, waitMs, serverPair, clientCa }: DeviceTestSettings,
  { door: { port } }: ServiceEnd,
  authority: OwnAuthority | undefined,
  say: Outside['say'],
): void {
  say(`address     ${bracketed(publicHost)}:${port} (${WAYS[transport]})`);
  say(`deviceId    ${account.deviceId}`);
  say(`credential  ${account.credential}`);
  if (authority && !serverPair) say(`CA          ${authority.caFile}`);
  if (authority && !clientCa) {
    say(`certificate ${authority.device.certFile}, in place of the credential if you like`);
    say(`its key     ${authority.device.keyFile}`);
  }
  say(`Configure these in the device. The test waits up to ${waitMs / 1000} s for it.`);
}

/** The names by which the device may reach this machine. */
function openAuthority({ certificateFolder, account, publicHost, listen }: DeviceTestSettings): Promise<OwnAuthority> {
  const hosts = [...new Set([publicHost, listen.host, 'localhost'])];
  return openOwnAuthority(certificateFolder, { deviceId: account.deviceId, hosts });
}

const securedBy = ({ server, stranger, ca }: OwnAuthority, { serverPair, clientCa }: DeviceTestSettings): Secured => ({
  server: serverPair ?? server,
  stranger,
  clientCa: clientCa ?? ca,
});

/** Resolves when the device has connected. Rejects with Unreachable if it does not, or not as itself. */
async function arrival({ service, settings, stopped }: Stage): Promise<void> {
  if ((await service.until(() => service.logins > 0, settings.waitMs)) || stopped.aborted) return;
  const why = service.refused === undefined ? 'no login' : `its last connection was refused: ${service.refused}`;
  throw new Unreachable(
    'the device',
    `port ${service.door.port}`,
    new Error(`${why} within ${settings.waitMs / 1000} s`),
  );
}

type Versions = { -readonly [Name in 'firmwareVersion' | 'managementClientVersion']: DeviceTestRecord[Name] };
interface Played {
  cases: CaseRecord[];
  connection: DeviceTestRecord['connection'];
  drive: DeviceTestRecord['drive'];
  versions: Versions;
}

/** Plays all cases; `own` measures this process. */
async function playCases(settings: DeviceTestSettings, own: OwnPace, { stopped, say }: Outside): Promise<Played> {
  const timers = systemTimers;
  const contract = readContract();
  const journal = createJournal(timers);
  const commands = createCommandMaker(Date.now);
  const judge = createJudge({ settings, journal, own, timers });
  const alarms = createAlarms({ contract, commands, timers, strayRule: judge.strayRule, raise: judge.raise });
  const freshUrls: Stage['freshUrls'] = new Map();

  const versions: Versions = { firmwareVersion: null, managementClientVersion: null };

  function onReceived({ kind, body }: Received): void {
    if (kind === 'status' && isRecord(body))
      for (const name of ['firmwareVersion', 'managementClientVersion'] as const)
        if (typeof body[name] === 'string') versions[name] = body[name];
    if (kind !== 'requests' || !isRecord(body)) return;
    const response = JSON.stringify(responseTo(body, freshUrls));
    // Twice, because the service sends an answer again until its PUBACK.
    service.publish('responses', [response, response]);
  }

  const { transport, account, listen, filesListen, publicHost } = settings;
  const waits = createWaits(timers, stopped);
  using authority = usesTls(transport) ? await openAuthority(settings) : undefined;
  await using service = await startServiceEnd({
    listen,
    transport,
    secured: authority ? securedBy(authority, settings) : null,
    account,
    journal,
    alarms,
    timers,
    random: createRandom(deriveSeed(settings.seed, 3)),
    waits,
    onReceived,
  });
  await using files = await startFileHost({ listen: filesListen, publicHost, journal, onRequest: waits.wake });
  const stage: Stage = {
    settings,
    service,
    files,
    contract,
    commands,
    timers,
    freshUrls,
    nextPackage: createPackageFiles(Date.now()),
    unsupported: new Set(),
    ask: say,
    stopped,
    figures: noFigures(),
  };
  introduce(settings, service, authority, say);
  await arrival(stage);
  const names = orderOf(settings.cases, createRandom(deriveSeed(settings.seed, 1)));
  const cases: CaseRecord[] = [];
  for (const [index, name] of names.entries()) {
    say(`${String(index + 1).padStart(2)}/${names.length}  ${name}`);
    cases.push(await judge.play(name, stage, () => connected(stage)));
  }
  return { cases, versions, connection: service.connectedBy ?? null, drive: settings.drive && stage.figures };
}

/**
 * Plays the service's side of the protocol to one device, and judges it by the rules of docs/devices.md. Rejects with
 * Unreachable if the device never connects.
 */
export async function runDeviceTest(settings: DeviceTestSettings, outside: Outside): Promise<DeviceTestRecord> {
  const startedAt = new Date();
  const own = startOwnPace(systemTimers);
  try {
    return recordOf(settings, startedAt, await playCases(settings, own, outside));
  } finally {
    own.stop();
  }
}

function recordOf({ account, seed }: DeviceTestSettings, startedAt: Date, played: Played): DeviceTestRecord {
  const names = Object.keys(CASES);
  const cases = played.cases.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
  const notRun = cases.filter(({ outcome }) => outcome === 'not run').map(({ name, shown }) => `${name}: ${shown}`);
  return {
    deviceId: account.deviceId,
    ...played.versions,
    connection: played.connection,
    drive: played.drive,
    seed,
    startedAt: startedAt.toISOString(),
    milliseconds: Date.now() - startedAt.getTime(),
    cases,
    verdicts: cases.flatMap(verdictsOf),
    notRun,
  };
}

import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type IClientOptions, type MqttClient } from 'mqtt';

/** The faults that only a device with TLS, or with MQTT 5, can have. */
export type FlawOfConnections =
  | 'trusts-any-server'
  | 'stays-away-when-taken-over'
  | 'does-not-repeat-above-the-rate'
  | 'repeats-refused-messages'
  | 'has-no-session-expiry'
  | 'retains-its-status'
  | 'waits-in-tunnels'
  | 'refuses-repetitions';

/** The faults of a maker's device. */
export type Flaw =
  | 'does-repetitions-again'
  | 'forgets-unconfirmed-acks'
  | 'installs-without-hash'
  | 'pauses-equally'
  | 'ignores-issued-at'
  | 'believes-its-clock'
  | 'does-cancelled-commands'
  | 'answers-cancels'
  | 'ends-at-unreadable-messages'
  | 'reports-no-status'
  | 'reports-a-wrong-status'
  | 'has-clean-sessions'
  | 'rounds-numbers'
  | 'refuses-unknown-members'
  | 'takes-no-unicode'
  | 'does-not-read-errors'
  | 'trusts-its-session'
  | 'reports-its-status-with-qos-0'
  | 'has-no-keep-alive'
  | 'forgets-after-hundred'
  | 'forgets-at-restart'
  | 'succeeds-before-it-is-done'
  | 'works-side-by-side'
  | 'forgets-unconfirmed-events'
  | 'keeps-every-network'
  | 'never-goes-back'
  | FlawOfConnections;

interface Command {
  transactionId: number;
  operation: string;
  parameters: Record<string, unknown>;
  issuedAt: string;
  attempt: number;
}
type Answer = Record<string, unknown>;

/** How a device connects. */
export interface Way {
  readonly tls?: Tls;
  /** MQTT 5 in place of 3.1.1. */
  readonly level?: 5;
  readonly maximumPacketSize?: number;
  readonly keepalive?: number;
}

/** The CA that a device trusts, and the client certificate with which it logs in. */
interface Tls {
  readonly ca: Buffer;
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer };
}

const MEMBERS = ['transactionId', 'operation', 'parameters', 'issuedAt', 'attempt'];
const HUNDRED = 100;
const HOUR_SECONDS = 3600;
const KEEP_ALIVE_SECONDS = 30;
/** The first pause before it connects again: short, so that tests are quick. */
const PERIOD_MILLISECONDS = 20;
/** Long enough that the delays of a busy machine do not make equal pauses look as if they grew. */
const EQUAL_MILLISECONDS = 300;

/** The reason codes of MQTT 5 that this device knows. */
const TAKEN_OVER = 0x8e;
const ABOVE_THE_RATE = 0x97;
const AGAIN_MILLISECONDS = 50;

/** Long enough to be seen by the next question, even of a busy machine. */
const EARLY_MILLISECONDS = 300;

class Failed extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const DAY_MILLISECONDS = 86_400_000;

function readCommand(payload: Buffer): Command | undefined {
  try {
    const body = JSON.parse(payload.toString()) as Command;
    const isNamed = typeof body.transactionId === 'number' && typeof body.issuedAt === 'string';
    return isNamed && typeof body.parameters === 'object' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** A device of another maker, over the package mqtt: good, or with one flaw. It keeps its answers while it is an object. */
export function createOwnDevice(account: { deviceId: string; credential: string }, flaw?: Flaw) {
  const { deviceId, credential } = account;
  const answers = new Map<string, Answer>();
  const cancelled = new Set<string>();
  const unconfirmed = new Set<number>();
  const period = flaw === 'pauses-equally' ? EQUAL_MILLISECONDS : PERIOD_MILLISECONDS;
  let isEnabled = false;
  let work: Promise<void> = Promise.resolve();
  let client: MqttClient | undefined;

  const nameOf = ({ transactionId, issuedAt }: Command): string =>
    flaw === 'ignores-issued-at' ? `${transactionId}` : `${transactionId} ${issuedAt}`;

  function publish(kind: string, body: object): void {
    const retain = flaw === 'retains-its-status' && kind === 'status';
    const qos = flaw === 'reports-its-status-with-qos-0' && kind === 'status' ? 0 : 1;
    client?.publish(`devices/${deviceId}/${kind}`, JSON.stringify(body), { qos, retain }, (error) => {
      const code = (error as { code?: unknown } | null | undefined)?.code;
      const isRate = code === ABOVE_THE_RATE && flaw !== 'does-not-repeat-above-the-rate';
      const isStubborn = typeof code === 'number' && flaw === 'repeats-refused-messages';
      if (isRate || isStubborn) setTimeout(() => publish(kind, body), AGAIN_MILLISECONDS);
    });
    if (flaw === `forgets-unconfirmed-${kind}`) unconfirmed.add(client?.getLastMessageId() ?? 0);
  }

  async function install({ url, size, sha256, package: name, version }: Record<string, unknown>): Promise<object> {
    const bytes = await fetch(String(url))
      .then(
        async (answer) => Buffer.from(await answer.arrayBuffer()),
        () => Buffer.alloc(0),
      )
      .catch(() => Buffer.alloc(0));
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (bytes.length !== size || (hash !== sha256 && flaw !== 'installs-without-hash'))
      throw new Failed('DOWNLOAD_FAILED');
    return { package: name, version, versionCode: 1 };
  }

  let confirm: (() => void) | undefined;

  /** Connects again with other networks; resolves when it has, or fails after so many seconds. */
  function tryNetworks(revertAfter: unknown): Promise<void> {
    if (typeof revertAfter !== 'number' || flaw === 'keeps-every-network') return Promise.resolve();
    return new Promise((resolve, reject) => {
      const goBack = (): void => {
        confirm = undefined;
        reject(new Failed('REVERTED'));
      };
      const timer = setTimeout(flaw === 'never-goes-back' ? () => {} : goBack, 1000 * revertAfter);
      confirm = () => {
        clearTimeout(timer);
        resolve();
      };
      client?.stream.end();
    });
  }

  async function resultOf({ operation, parameters }: Command): Promise<object | undefined> {
    if (flaw === 'takes-no-unicode' && /[^\0-\x7f]/.test(JSON.stringify(parameters))) throw new Failed('INTERNAL');
    switch (operation) {
      case 'activate':
      case 'deactivate':
      case 'setLanguage':
        return undefined;
      case 'setApn':
      case 'setWifi':
        await tryNetworks(parameters['revertAfter']);
        return undefined;
      case 'getConnectivityState':
        return { type: 'bluetooth', enabled: isEnabled };
      case 'setConnectivityState':
        if (flaw === 'succeeds-before-it-is-done') {
          setTimeout(() => {
            isEnabled = parameters['enabled'] === true;
          }, EARLY_MILLISECONDS);
          return { type: 'bluetooth', enabled: parameters['enabled'] === true };
        }
        // To switch on takes longer than to switch off.
        if (flaw === 'works-side-by-side' && parameters['enabled'] === true) await pause(EARLY_MILLISECONDS);
        isEnabled = parameters['enabled'] === true;
        return { type: 'bluetooth', enabled: isEnabled };
      case 'installSoftware':
        return install(parameters);
      default:
        throw new Failed('UNSUPPORTED');
    }
  }

  async function answerTo(command: Command): Promise<Answer> {
    const transactionId = flaw === 'rounds-numbers' ? command.transactionId % 2 ** 32 : command.transactionId;
    try {
      const isStrange = Object.keys(command).some((name) => !MEMBERS.includes(name));
      if (flaw === 'refuses-unknown-members' && isStrange) throw new Failed('INVALID_PARAMETERS');
      const result = await resultOf(command);
      return { transactionId, status: 'succeeded', ...(result && { result }) };
    } catch (error) {
      const { code = 'INTERNAL', message } = error as Error & { code?: string };
      return { transactionId, status: 'failed', error: { code, message } };
    }
  }

  async function carryOut(command: Command): Promise<void> {
    const name = nameOf(command);
    if (cancelled.has(name) && flaw !== 'does-cancelled-commands') return;
    if (flaw === 'refuses-repetitions' && answers.has(name))
      answers.set(name, { ...answers.get(name), status: 'failed', error: { code: 'DUPLICATE', message: '' } });
    const known = flaw === 'does-repetitions-again' ? undefined : answers.get(name);
    const answer = known ?? (await answerTo(command));
    answers.set(name, answer);
    if (flaw === 'forgets-after-hundred' && answers.size > HUNDRED) answers.delete([...answers.keys()][0]!);
    publish('acks', answer);
  }

  function receive(topic: string, payload: Buffer): void {
    if (!topic.endsWith('/commands')) return;
    const command = readCommand(payload);
    const isOdd = Math.abs(Date.parse(command?.issuedAt ?? '') - Date.now()) > DAY_MILLISECONDS;
    if (flaw === 'believes-its-clock' && isOdd) return;
    if (!command) {
      if (flaw === 'ends-at-unreadable-messages') client?.end(true);
    } else if (command.operation === 'cancel') {
      cancelled.add(nameOf(command));
      if (flaw === 'answers-cancels') publish('acks', { transactionId: command.transactionId, status: 'succeeded' });
    } else if (flaw === 'works-side-by-side') void carryOut(command);
    else work = work.then(() => carryOut(command));
  }

  return {
    pressButton(eventId: string): void {
      publish('events', { eventId, type: 'custom.sos', occurredAt: new Date().toISOString(), data: {} });
    },
    /** Loses all that is not stored, and connects again. */
    restart(): void {
      if (flaw === 'forgets-at-restart') answers.clear();
      client?.stream.destroy();
    },
    connect(url: string, { tls, level, maximumPacketSize, keepalive = KEEP_ALIVE_SECONDS }: Way = {}): void {
      const options: IClientOptions = {
        ...(level && {
          protocolVersion: level,
          properties: {
            sessionExpiryInterval: flaw === 'has-no-session-expiry' ? 0 : HOUR_SECONDS,
            ...(maximumPacketSize && { maximumPacketSize }),
          },
        }),
        ...(tls && { ca: tls.ca, ...tls.pair, rejectUnauthorized: flaw !== 'trusts-any-server' }),
        clientId: deviceId,
        username: deviceId,
        ...(!tls?.pair && { password: credential }),
        clean: flaw === 'has-clean-sessions',
        keepalive: flaw === 'has-no-keep-alive' ? 0 : keepalive,
        reconnectPeriod: period,
        resubscribe: false, // with it, mqtt.js leaves out topics that it has subscribed to on an earlier connection
      };
      const mine = connect(url, options);
      client = mine;
      if (flaw === 'waits-in-tunnels') mine.onKeepaliveTimeout = () => {};
      mine.on('error', () => {});
      mine.on('connect', ({ sessionPresent }) => {
        // Without it each answer waits for the delayed ACK of the PUBACK before it.
        (mine.stream as Partial<Socket>).setNoDelay?.(true);
        mine.options.reconnectPeriod = period;
        confirm?.();
        confirm = undefined;
        const kinds = flaw === 'does-not-read-errors' ? ['commands', 'responses'] : ['commands', 'responses', 'errors'];
        const topics = kinds.map((kind) => `devices/${deviceId}/${kind}`);
        if (flaw !== 'trusts-its-session' || !sessionPresent) mine.subscribe(topics, { qos: 1 }, () => {});
        const battery = { level: flaw === 'reports-a-wrong-status' ? 101 : 100, charging: true };
        if (flaw !== 'reports-no-status') publish('status', { battery });
      });
      mine.on('close', () => {
        if (flaw !== 'pauses-equally') mine.options.reconnectPeriod! *= 2;
        for (const messageId of unconfirmed) mine.removeOutgoingMessage(messageId);
        unconfirmed.clear();
      });
      mine.on('message', receive);
      mine.on('disconnect', ({ reasonCode }) => {
        if (flaw === 'stays-away-when-taken-over' && reasonCode === TAKEN_OVER) mine.end(true);
      });
    },
    async [Symbol.asyncDispose]() {
      await client?.endAsync(true);
    },
  };
}

import type { IPublishPacket } from 'mqtt-packet';
import { isRecord } from '../mqtt/messages.ts';
import type { Connection } from './connection.ts';
import { LIMITS, type Reason, shownCode } from './five.ts';
import type { Journal } from './journal.ts';
import type { Received } from './received.ts';
import type { Alarms } from './watch.ts';

/** The most requests whose Correlation Data is kept. */
const MOST_CORRELATIONS = 64;
/** The bytes of a message that the journal gets; it shows even fewer. */
const SHOWN_BYTES = 1000;
const SUCCESS: Reason = { code: 0, text: '' };
const NOT_AS_ITS_SCHEMA: Reason = { code: 0x99, text: 'the message is no JSON object' };
const FOREIGN_TOPIC: Reason = { code: 0x87, text: 'the topic is not one of the device' };

/** The messages of the device to the service. */
export interface Inflow {
  /** Begins anew on another connection. */
  begin(): void;
  /** The Correlation Data of a request, for its first response on the same connection. */
  readonly correlationOf: (requestId: unknown) => Buffer | undefined;
  /** Takes a message, and sends its PUBACK. Returns the reason why the connection must end; undefined: it goes on. */
  receive(connection: Connection, packet: IPublishPacket): Reason | undefined;
}

const parsed = (payload: Buffer): unknown => {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
};

/** `withheld`: topics whose messages get no PUBACK. `refusing`: those whose messages get one with a reason code of MQTT 5. */
export function createInflow({
  prefix,
  journal,
  alarms,
  withheld,
  refusing,
  keep,
  onReceived,
}: {
  prefix: string;
  journal: Journal;
  alarms: Alarms;
  withheld: ReadonlySet<string>;
  refusing: ReadonlyMap<string, Reason>;
  keep: (message: Received) => void;
  onReceived: (message: Received) => void;
}): Inflow {
  const correlations = new Map<unknown, Buffer>();
  /** The messages of this connection that have got no PUBACK. */
  let unanswered = 0;

  /** The reason code of the PUBACK of a message. */
  function reasonFor(kind: string, body: unknown): Reason {
    const wanted = refusing.get(kind);
    if (wanted) return wanted;
    if (kind.includes('/')) return FOREIGN_TOPIC;
    return isRecord(body) ? SUCCESS : NOT_AS_ITS_SCHEMA;
  }

  /** Keeps the Correlation Data of a request. A response goes to the topic of responses only. */
  function noteRequest(body: unknown, properties: IPublishPacket['properties']): Reason | undefined {
    const { responseTopic = `${prefix}responses`, correlationData } = properties ?? {};
    if (responseTopic !== `${prefix}responses`) {
      alarms.raise('requests', `the Response Topic ${prefix}responses, or none`, responseTopic);
      return { code: 0x90, text: `responses come on ${prefix}responses only` };
    }
    if (correlationData && isRecord(body) && correlations.size < MOST_CORRELATIONS)
      correlations.set(body['requestId'], Buffer.from(correlationData));
    return undefined;
  }

  function receive(
    connection: Connection,
    { topic, payload, qos, messageId, properties }: IPublishPacket,
  ): Reason | undefined {
    const kind = topic.startsWith(prefix) ? topic.slice(prefix.length) : topic;
    const isWithheld = withheld.has(kind);
    const bytes = Buffer.from(payload);
    const message = { kind, body: parsed(bytes) };
    const isOfFive = connection.level === 5;
    const ofRequest = isOfFive && kind === 'requests' ? noteRequest(message.body, properties) : undefined;
    const reason = ofRequest ?? (isOfFive ? reasonFor(kind, message.body) : SUCCESS);
    const answer = isWithheld ? ' (gets no PUBACK)' : reason.code > 0 ? ` (gets ${shownCode(reason.code)})` : '';
    journal.note('device', `sends ${kind}: ${bytes.toString('utf8', 0, SHOWN_BYTES)}${answer}`);
    alarms.received(message, bytes, qos);
    keep(message);
    if (messageId !== undefined && isWithheld) unanswered += 1;
    else if (messageId !== undefined) {
      const told = isOfFive && { reasonCode: reason.code };
      const words = isOfFive && reason.text !== '' && { properties: { reasonString: reason.text } };
      connection.send({ cmd: qos === 2 ? 'pubrec' : 'puback', messageId, ...told, ...words });
    }
    if (!ofRequest) onReceived(message);
    if (!isOfFive || unanswered <= LIMITS.receiveMaximum) return undefined;
    return { code: 0x93, text: `more than ${LIMITS.receiveMaximum} messages without a PUBACK` };
  }

  return {
    begin() {
      correlations.clear();
      unanswered = 0;
    },
    correlationOf(requestId) {
      const data = correlations.get(requestId);
      correlations.delete(requestId);
      return data;
    },
    receive,
  };
}

import { Readable } from 'node:stream';
import type { Consumer } from '../../core/stream/consumer-repository.ts';
import type { Lag } from '../../core/stream/consumers.ts';
import type { EventPage, Reading } from '../../core/stream/stream.ts';
import { numberedBody } from '../../core/webhooks/delivery.ts';
import { consumerSentence } from '../../views/consumer-sentences.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import { createAuthorize } from './authorize.ts';
import type { ApiServices, AtApplication, AtConsumer } from './services.ts';

type Services = Pick<ApiServices, 'stream' | 'consumers' | 'formatTime'>;

const SCOPE = 'svc:application:read';
const HEADERS = { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' };

/** The text of a page. Bodies are texts already, so they are not read and written again. */
function textOf({ events, next, more }: EventPage): string {
  const texts = events.map((event) => `{"eventId":"${event.eventId}",${numberedBody(event.body, event).slice(1)}`);
  return `{"events":[${texts.join(',')}],"next":${next},"more":${more}}`;
}

/** An answer that is sent when a page is there; it holds none of the places for requests in work meanwhile. */
function later(
  { page, leave }: ReturnType<ApiServices['stream']['wait']>,
  after: number,
  isAllowed: () => Promise<boolean>,
): Answer {
  const body = new Readable({ read: () => undefined });
  body.once('close', leave);
  const withheld = { events: [], next: after, more: false };
  void page.then(async (found) => {
    if (found) body.push(textOf(found.events.length === 0 || (await isAllowed()) ? found : withheld));
    body.push(null);
  });
  return { status: 200, headers: HEADERS, waiting: true, body };
}

/** Reads the next events of the application, in order; waits for them if the reader asks for it. */
export async function listEvents(
  { stream, ...services }: Services & Parameters<typeof createAuthorize>[0],
  { params, query, caller, stream: request }: AtApplication<never, 'rest/event-list-query'>,
): Promise<Answer> {
  const { applicationId } = params;
  const { after, from, types, wait, ...rest } = query;
  const begin = after ?? (from === 'latest' ? await stream.newest(applicationId) : 0);
  const reading: Reading = { ...rest, after: begin, types: types?.split(',') };
  const page = await stream.read(applicationId, reading);
  const isServed = page.events.length > 0 || page.more || wait === 0;
  if (isServed) return { status: 200, headers: HEADERS, body: textOf(page) };
  // The token may have ended meanwhile.
  const isAllowed = (): Promise<boolean> =>
    createAuthorize(services)(request, SCOPE, { ...params }).then(
      () => true,
      () => false,
    );
  const { developerId } = caller;
  return later(
    stream.wait({ applicationId, developerId }, { ...reading, after: page.next }, wait * 1000),
    page.next,
    isAllowed,
  );
}

const tagOf = (after: number | undefined): string => entityTag(after ?? null);

function bodyOf({ formatTime }: Services, { lag, updatedAt, ...consumer }: Consumer & { lag: Lag }): object {
  return {
    ...consumer,
    lag: { events: lag.events, seconds: lag.ageMicros / 1_000_000 },
    state: lag.state,
    attention: consumerSentence(consumer, lag),
    updatedAt: formatTime(updatedAt),
  };
}

/** Lists the consumers of the application. */
export async function listConsumers(services: Services, { params }: AtApplication): Promise<Answer> {
  const consumers = await services.consumers.list(params.applicationId);
  return { status: 200, body: { consumers: consumers.map((one) => bodyOf(services, one)) } };
}

/** Reads the place of a consumer, and its lag. */
export async function readConsumer(services: Services, { params }: AtConsumer): Promise<Answer> {
  const consumer = await services.consumers.find(params.applicationId, params.consumer);
  return { status: 200, headers: { ETag: tagOf(consumer.after) }, body: bodyOf(services, consumer) };
}

/** Moves a consumer, which may be new. Without `If-Match` it only goes forward. */
export async function moveConsumer(
  services: Services,
  { params, body, headers }: AtConsumer<'rest/event-consumer-update'>,
): Promise<Answer> {
  const { applicationId, consumer: name } = params;
  const check = matcher(headers);
  const place = { name, after: body.after };
  await services.consumers.move(
    applicationId,
    place,
    (after) => check(after ?? null),
    headers['if-match'] !== undefined,
  );
  const moved = await services.consumers.find(applicationId, name);
  return { status: 200, headers: { ETag: tagOf(moved.after) }, body: bodyOf(services, moved) };
}

/** Deletes a consumer. The events stay. */
export async function deleteConsumer({ consumers }: Services, { params }: AtConsumer): Promise<Answer> {
  await consumers.remove(params.applicationId, params.consumer);
  return { status: 204 };
}

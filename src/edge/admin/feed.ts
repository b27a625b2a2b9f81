import { FEED_HEADERS } from '../feed/feed-stream.ts';
import { readTopics } from '../feed/feed-topics.ts';
import type { Answer, Input } from '../http/route.ts';
import type { Administrator } from './authorize.ts';
import type { AdminServices } from './services.ts';

const ALWAYS = (): Promise<boolean> => Promise.resolve(true);

/** Streams changes of all devices, transactions and receivers. */
export function readFeed(
  { feed, sessions }: Pick<AdminServices, 'feed' | 'sessions'>,
  { query, caller }: Input<unknown, unknown, { topics: string }, Administrator>,
): Answer {
  const topics = readTopics(query.topics);
  const who =
    caller.kind === 'session'
      ? { sessionId: caller.sessionId, isGood: () => sessions.keep(caller.sessionId) }
      : { isGood: ALWAYS };
  return { status: 200, headers: FEED_HEADERS, endless: true, body: feed.open({ listener: 'admin', topics, ...who }) };
}

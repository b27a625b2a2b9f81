import { seesPayloads } from '../../core/people/roles.ts';
import { FEED_HEADERS } from '../feed/feed-stream.ts';
import { readTopics } from '../feed/feed-topics.ts';
import type { Answer, Input } from '../http/route.ts';
import { type Administrator, createStillGood } from './authorize.ts';
import { actorOf, readerOf } from './changes.ts';
import type { AdminServices } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'feed' | 'sessions' | 'people' | 'identify' | 'audit' | 'secretReads'>;

/**
 * Streams changes of all devices, transactions and receivers, for as long as the caller keeps their role. That somebody
 * sees the messages of a device is recorded.
 */
export async function readFeed(
  { feed, sessions, people, identify, audit, secretReads }: Services,
  { query, caller, headers, target, requestId, address }: Input<unknown, unknown, { topics: string }, Administrator>,
): Promise<Answer> {
  const topics = readTopics(query.topics);
  const isStillGood = createStillGood({ identify, people, sessions });
  const actor = actorOf(caller, headers);
  const deviceIds = [...topics.messages].sort();
  if (deviceIds.length > 0 && seesPayloads(caller.role)) {
    const { path } = target;
    const read = { who: readerOf(actor), what: `messages of ${deviceIds.join(' ')}` };
    const begun = await secretReads.record('person', read, () =>
      audit.begin({ actor, method: 'GET', route: path, path, requestId, address }),
    );
    await begun?.changed(
      { messages: deviceIds.length },
      deviceIds.map((id) => ({ kind: 'device', id })),
    );
    await begun?.ended(200);
  }
  const body = feed.open({
    listener: 'admin',
    topics,
    shows: shownTo(caller).feedItem,
    isGood: () => isStillGood(caller),
  });
  return { status: 200, headers: FEED_HEADERS, endless: true, body };
}

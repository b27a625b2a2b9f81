import { DomainError } from '@lapel/schemas/contracts/errors';
import { FEED_HEADERS } from '../feed/feed-stream.ts';
import { type FeedTopics, readTopics } from '../feed/feed-topics.ts';
import type { Answer } from '../http/route.ts';
import { createAuthorize } from './authorize.ts';
import type { ApiServices, AtApplication } from './services.ts';

type Services = Pick<ApiServices, 'feed'> & Parameters<typeof createAuthorize>[0];

const DEVICES = 'svc:device:read';
const APPLICATION = 'svc:application:read';

/**
 * The scopes that a token needs for these topics. The feed always needs DEVICES; the topics besides devices also need
 * the scope of the lists that show the same rows.
 */
function scopesOf({ transactions, receivers, software }: FeedTopics): string[] {
  const isMore = receivers || software.size > 0 || transactions === 'all' || transactions.size > 0;
  return isMore ? [DEVICES, APPLICATION] : [DEVICES];
}

/**
 * Streams the changes of an application's own devices and transactions, for as long as its token is valid. Throws
 * REQUEST_INVALID, and SCOPE_INSUFFICIENT for a topic whose list the token may not read.
 */
export async function readFeed(
  { feed, ...services }: Services,
  { params, query, stream, caller }: AtApplication<never, 'common/feed-query'>,
): Promise<Answer> {
  const { applicationId } = params;
  const topics = readTopics(query.topics);
  if (topics.fleet || topics.audit) {
    const msg = 'The topics fleet and audit are for administration only';
    throw DomainError.invalid({ loc: ['query', 'topics'], msg, type: 'enum' });
  }
  const authorize = createAuthorize(services);
  const scopes = scopesOf(topics);
  const authorizeAll = async (): Promise<void> => {
    for (const scope of scopes) await authorize(stream, scope, { ...params });
  };
  await authorizeAll();
  const isGood = (): Promise<boolean> =>
    authorizeAll().then(
      () => true,
      (error: unknown) => !(error instanceof DomainError) || error.code === 'DATABASE_UNAVAILABLE',
    );
  const body = feed.open({ listener: 'api', topics, applicationId, developerId: caller.developerId, isGood });
  return { status: 200, headers: FEED_HEADERS, endless: true, body };
}

import { FEED_HEADERS } from '../console/feed-stream.ts';
import { readTopics } from '../console/feed-topics.ts';
import { DomainError } from '../errors.ts';
import type { Answer } from '../http/route.ts';
import { createAuthorize } from './authorize.ts';
import type { ApiServices, AtApplication } from './services.ts';

/** What the feed tells needs this scope, as reading devices does. */
export const FEED_SCOPE = 'svc:device:read';

/** What happens to an application's own devices and transactions, live, for as long as its token is good. */
export function readFeed(
  { feed, accessTokens, applications }: Pick<ApiServices, 'feed' | 'accessTokens' | 'applications'>,
  { params, query, headers, caller }: AtApplication<never, 'common/feed-query'>,
): Answer {
  const { applicationId } = params;
  const topics = readTopics(query.topics);
  if (topics.fleet) {
    const msg = 'fleet is a topic of administration';
    throw DomainError.invalid({ loc: ['query', 'topics'], msg, type: 'enum' });
  }
  const authorize = createAuthorize({ accessTokens, applications });
  const isGood = (): Promise<boolean> =>
    authorize({ headers }, FEED_SCOPE, { ...params }).then(
      () => true,
      (error: unknown) => !(error instanceof DomainError) || error.code === 'DATABASE_UNAVAILABLE',
    );
  const body = feed.open({ listener: 'api', topics, applicationId, developerId: caller.developerId, isGood });
  return { status: 200, headers: FEED_HEADERS, endless: true, body };
}

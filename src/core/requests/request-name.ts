import type { RequestKey } from './request-repository.ts';

/** The name of a request among those of its device: a requestId may come again later. */
export const nameOf = ({ requestId, receivedAt }: RequestKey): string => `${receivedAt} ${requestId}`;

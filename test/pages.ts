import type { CheckedClient } from './contract/checked-client.ts';

/** Follows the links of a list to its end; returns the rows of each page. */
export async function pagesOf<Row>(client: CheckedClient, target: string, key: string): Promise<Row[][]> {
  const pages: Row[][] = [];
  for (let next: string | undefined = target; next !== undefined; ) {
    const { status, body, headers } = await client.get(next);
    if (status !== 200) throw new Error(`${next} answered ${status} ${JSON.stringify(body)}`);
    pages.push(body[key]);
    const link = /^<([^>]+)>; rel="next"$/.exec(String(headers['link']))?.[1];
    next = link === undefined ? undefined : link.slice(new URL(link).origin.length);
  }
  return pages;
}

/**
 * Waits for statements of one unit of work that were begun together and do not depend on one another: a server is
 * asked for all of them in one go, which saves ways there; and none of them fails while nobody waits for it, which would end
 * the process. Where units run one after another there is nothing to save. All
 * have come to their end when it settles; it throws what the first of them throws.
 */
export async function inOneGo<Looks extends readonly unknown[]>(
  ...looks: Looks
): Promise<{ [Index in keyof Looks]: Awaited<Looks[Index]> }> {
  const ended = await Promise.allSettled(looks);
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  }) as { [Index in keyof Looks]: Awaited<Looks[Index]> };
}

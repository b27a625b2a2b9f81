/** Milliseconds for which no call goes to a node that did not answer. */
const AVOIDED = 1000;

/**
 * Returns a `fetch` for the first of these base URLs that spreads its calls over the nodes of all of them, one after
 * another. A node that does not answer is avoided for a second. The call itself is not repeated: that is left to the
 * caller, who counts it.
 */
export function createNodeFetch(baseUrls: readonly string[], now: () => number): typeof fetch {
  const [first = ''] = baseUrls;
  const avoidedUntil = baseUrls.map(() => 0);
  let at = -1;

  function choose(): number {
    for (let tried = 0; tried < baseUrls.length; tried += 1) {
      at = (at + 1) % baseUrls.length;
      if ((avoidedUntil[at] ?? 0) <= now()) return at;
    }
    return at;
  }

  return async (input, init) => {
    const node = choose();
    const url = input instanceof Request ? input.url : String(input);
    try {
      return await fetch(url.startsWith(first) ? baseUrls[node] + url.slice(first.length) : url, init);
    } catch (error) {
      avoidedUntil[node] = now() + AVOIDED;
      throw error;
    }
  };
}

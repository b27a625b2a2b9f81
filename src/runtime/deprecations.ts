interface Deprecation {
  /** What is removed. */
  feature: string;
  /** The release, `YYYY-MM`, that no longer has it. */
  release: string;
  replacement: string | null;
  /** Where it is in the interface. */
  row: string;
}

/** Everything deprecated, by the specification's "Scheduled removals". */
// biome-ignore format: a table is read by its rows
export const DEPRECATIONS = {
  exist: { feature: 'exist in the distribution status', release: '2026-09', replacement: 'distributable', row: 'op 25' },
  remoteSupportEvent: { feature: 'remoteSupportEvent in the application settings', release: '2026-10', replacement: null, row: 'ops 1 and 2' },
  webmFile: { feature: 'connections[].webmFile in the recorded-data notification', release: '2026-11', replacement: 'connections[].movieFile', row: 'events' },
} as const satisfies Record<string, Deprecation>;

/** The newest release known: nothing of the table is served there. The default of LAPEL_API_RELEASE. */
export const NEWEST_RELEASE = '2026-11';

type Deprecated = keyof typeof DEPRECATIONS;

// Months (specification, "Limits": a feature is deprecated so long before its removal, at least).
const DEPRECATION_PERIOD = 6;

/** The first instant of a release's month, so many months before it; milliseconds. */
function startOf(release: string, monthsBefore = 0): number {
  const [year = 0, month = 1] = release.split('-').map(Number);
  return Date.UTC(year, month - 1 - monthsBefore);
}

export type Deprecations = ReturnType<typeof createDeprecations>;

/** What of the table is still served at a release of the interface (LAPEL_API_RELEASE). */
export function createDeprecations(apiRelease: string) {
  return {
    apiRelease,

    serves: (name: Deprecated): boolean => apiRelease < DEPRECATIONS[name].release,

    /**
     * The headers of an answer with the feature: since when it is deprecated (RFC 9745), when it goes (RFC 8594), and
     * the page that says what to use instead. An answer with a page of a list has a `Link` of its own: join them.
     */
    headers(name: Deprecated, baseUrl: string): Record<string, string> {
      const { release } = DEPRECATIONS[name];
      return {
        Deprecation: `@${startOf(release, DEPRECATION_PERIOD) / 1000}`,
        Sunset: new Date(startOf(release)).toUTCString(),
        Link: `<${baseUrl}/docs/deprecations#${name}>; rel="deprecation"; type="text/html"`,
      };
    },
  };
}

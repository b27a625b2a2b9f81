interface Deprecation {
  /** The deprecated feature in words. */
  feature: string;
  /** The release, `YYYY-MM`, from which on the feature is removed. */
  release: string;
  replacement: string | null;
  /** The part of the interface that has the feature, such as `application settings`. */
  part: string;
}

/** Every deprecated feature, from the specification's "Scheduled removals". */
// biome-ignore format: a table is read by its rows
export const DEPRECATIONS = {
  exist: { feature: 'exist in the distribution status', release: '2026-09', replacement: 'distributable', part: 'distribution status' },
  remoteSupportEvent: { feature: 'remoteSupportEvent in the application settings', release: '2026-10', replacement: null, part: 'application settings' },
  webmFile: { feature: 'connections[].webmFile in the recorded-data notification', release: '2026-11', replacement: 'connections[].movieFile', part: 'events of devices' },
} as const satisfies Record<string, Deprecation>;

/** The newest known release, in which all features of the table are removed. The default of LAPEL_API_RELEASE. */
export const NEWEST_RELEASE = '2026-11';

type Deprecated = keyof typeof DEPRECATIONS;

// Months. A feature is deprecated at least this long before its removal (specification, "Limits").
const DEPRECATION_PERIOD = 6;

/** The first instant of the month that is `monthsBefore` months before a release, in milliseconds. */
function startOf(release: string, monthsBefore = 0): number {
  const [year = 0, month = 1] = release.split('-').map(Number);
  return Date.UTC(year, month - 1 - monthsBefore);
}

export type Deprecations = ReturnType<typeof createDeprecations>;

/** Says which deprecated features are still served under the API release in LAPEL_API_RELEASE. */
export function createDeprecations(apiRelease: string) {
  return {
    apiRelease,

    serves: (name: Deprecated): boolean => apiRelease < DEPRECATIONS[name].release,

    /**
     * The headers of an answer that has a deprecated feature: the time of its deprecation (RFC 9745), the time of its
     * removal (RFC 8594), and a link to the page that names the replacement. An answer with a page of a list has a
     * `Link` of its own, which the caller has to join with this one.
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

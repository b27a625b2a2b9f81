import semver from 'semver';
import type { VersionRange } from './selector.ts';

/**
 * Compiles a SemVer range in the notation of npm; undefined when the text is none. A pre-release is compared by its
 * precedence, so `>=1.2.0` has 1.3.0-rc.1. The answers are remembered, because a fleet has few versions.
 */
export function readVersionRange(text: string): VersionRange | undefined {
  const range = rangeOf(text);
  const known = new Map<string, boolean>();
  if (!range) return undefined;
  return {
    has(version) {
      const isWithin = known.get(version) ?? range.test(version);
      known.set(version, isWithin);
      return isWithin;
    },
  };
}

function rangeOf(text: string): semver.Range | undefined {
  try {
    return new semver.Range(text, { includePrerelease: true });
  } catch {
    return undefined; // the library tells a wrong range by an error
  }
}

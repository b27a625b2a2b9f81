type Name = `LAPEL_LEGACY_${'ISSUER' | 'JWKS_URL' | 'SCOPE_BASE' | 'AUDIENCE'}`;

/** The legacy identity provider whose tokens are accepted. */
export interface LegacySettings {
  issuer: string;
  jwksUrl: string;
  scopeBase: string;
  audience: string | null;
}

interface Source {
  optional(name: Name): string | null;
  /** Makes the error for a setting. */
  invalid(name: Name, problem: string): Error;
}

/** Reads the settings of the legacy identity provider: either all that it needs are set, or none. */
export function readLegacy({ optional, invalid }: Source, publicUrl: string): LegacySettings | null {
  const issuer = optional('LAPEL_LEGACY_ISSUER');
  const jwksUrl = optional('LAPEL_LEGACY_JWKS_URL');
  const scopeBase = optional('LAPEL_LEGACY_SCOPE_BASE')?.replace(/\/+$/, '') ?? null;
  const audience = optional('LAPEL_LEGACY_AUDIENCE');
  const others = {
    LAPEL_LEGACY_JWKS_URL: jwksUrl,
    LAPEL_LEGACY_SCOPE_BASE: scopeBase,
    LAPEL_LEGACY_AUDIENCE: audience,
  };
  if (issuer === null) {
    for (const [name, value] of Object.entries(others) as [Name, string | null][]) {
      if (value !== null) throw invalid(name, 'needs LAPEL_LEGACY_ISSUER');
    }
    return null;
  }
  if (jwksUrl === null) throw invalid('LAPEL_LEGACY_JWKS_URL', 'is needed with LAPEL_LEGACY_ISSUER');
  if (scopeBase === null) throw invalid('LAPEL_LEGACY_SCOPE_BASE', 'is needed with LAPEL_LEGACY_ISSUER');
  if (/\s/.test(scopeBase)) throw invalid('LAPEL_LEGACY_SCOPE_BASE', 'must have no spaces');
  if (issuer === publicUrl)
    throw invalid('LAPEL_LEGACY_ISSUER', `must differ from the issuer of the service itself, ${publicUrl}`);
  return { issuer, jwksUrl, scopeBase, audience };
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/** Where spans are exported to, and in which protocol of OpenTelemetry; null: nothing is traced. */
export type TracingTarget = { url: string; protocol: (typeof PROTOCOLS)[number] } | null;

type Environment = Record<string, string | undefined>;

const isUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/**
 * Reads the variables of OpenTelemetry that say whether and how spans are exported ("OpenTelemetry Protocol Exporter"):
 * an endpoint turns tracing on. `refuse` is called with the faulty variable and its problem.
 */
export function readTracingTarget(env: Environment, refuse: (name: string, problem: string) => never): TracingTarget {
  const given = (name: string): string | undefined => env[name] || undefined;
  const wants = given('OTEL_SDK_DISABLED')?.toLowerCase() !== 'true' && given('OTEL_TRACES_EXPORTER') !== 'none';
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const name = names.find((one) => given(one) !== undefined);
  if (!wants || name === undefined) return null;
  const endpoint = given(name)!;
  if (!isUrl(endpoint)) refuse(name, `must be a URL with http or https, not "${endpoint}"`);
  const ofProtocol = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'].find(given) ?? '';
  const asked = given(ofProtocol) ?? PROTOCOLS[0];
  const protocol = PROTOCOLS.find((one) => one === asked);
  if (protocol === undefined) return refuse(ofProtocol, `must be ${PROTOCOLS.join(' or ')}, not "${asked}"`);
  // The endpoint of all signals is the beginning of a URL, that of traces is the whole one.
  const url = name === names[0] ? endpoint : `${endpoint.replace(/\/$/, '')}/v1/traces`;
  return { url, protocol };
}

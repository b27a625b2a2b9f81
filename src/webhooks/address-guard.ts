import ipaddr from 'ipaddr.js';

const bytesOf = (address: ipaddr.IPv6, from: number): ipaddr.IPv4 =>
  new ipaddr.IPv4(address.toByteArray().slice(from, from + 4));

const EMBEDDED: { prefix: [ipaddr.IPv6, number]; at: number }[] = [
  { prefix: [ipaddr.IPv6.parse('::ffff:0:0'), 96], at: 12 }, // IPv4-mapped (RFC 4291 2.5.5.2)
  { prefix: [ipaddr.IPv6.parse('64:ff9b::'), 96], at: 12 }, // NAT64 (RFC 6052); 64:ff9b:1::/48 is for local use
  { prefix: [ipaddr.IPv6.parse('2002::'), 16], at: 2 }, // 6to4 (RFC 3056)
];
// IPv4-compatible (RFC 4291 2.5.5.1); `::` and `::1` are no such addresses.
const COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];
// The identifier of an interface that is an IPv4 address (ISATAP, RFC 5214 6.1), in whatever network.
const ISATAP = [0x00, 0x02].map((first) => Buffer.from([first, 0x00, 0x5e, 0xfe]));
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Why a webhook must not go to this IP address (a word such as `loopback`, `private`, `linkLocal`), or undefined when
 * it may: only global unicast addresses pass. So metadata services (169.254.169.254, fd00:ec2::254) do not, and an
 * IPv6 address that leads to an IPv4 one is judged by that.
 */
export function refusedAddress(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return 'not an IP address';
  return judge(ipaddr.parse(text));
}

function judge(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  const range = address.range();
  if (address instanceof ipaddr.IPv4) return range === 'unicast' ? undefined : range;
  for (const { prefix, at } of EMBEDDED) {
    if (address.match(prefix)) return judge(bytesOf(address, at));
  }
  if (address.match(COMPATIBLE) && range !== 'loopback' && range !== 'unspecified') return judge(bytesOf(address, 12));
  if (range !== 'unicast') return range;
  const identifier = Buffer.from(address.toByteArray().slice(8, 12));
  if (ISATAP.some((each) => each.equals(identifier))) return judge(bytesOf(address, 12));
  return address.match(GLOBAL_UNICAST) ? undefined : 'reserved';
}

/** Whether a host of a URL is an address that is refused, or the name of this machine; other names lead where they lead. */
export function refusedHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return refusedAddress(address) !== undefined;
  return /^(?:.+\.)?localhost\.?$/.test(hostname);
}

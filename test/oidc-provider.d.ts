declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterConstructor } from 'oidc-provider';

  /** The storage of a provider that is given no other one. */
  const MemoryAdapter: AdapterConstructor;
  export default MemoryAdapter;
}

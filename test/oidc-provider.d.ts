declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterConstructor } from 'oidc-provider';

  /** The storage that a provider uses without another one; it warns unless it is told to use it. */
  const MemoryAdapter: AdapterConstructor;
  export default MemoryAdapter;
}

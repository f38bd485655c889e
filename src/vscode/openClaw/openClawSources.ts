import type { OpenClawDeps } from './openClaw';

/** Where OpenClaw's sessions are found, and how one is followed; loaded when it is needed. */
export function openClawSources(wasmFile: string): Pick<OpenClawDeps, 'find' | 'watch'> {
  return {
    find: async (path) => (await import('../../node/transfer/openClaw/findOpenClaw')).findOpenClaw(path, wasmFile),
    watch: async (place, key, options) => {
      const { OpenClawWatch } = await import('../../node/transfer/openClaw/openClawWatch');
      if (place.type === 'database')
        return new OpenClawWatch({
          ...options,
          source: new (await import('../../node/transfer/openClaw/openClawDatabase')).OpenClawDatabase(place.file, key, wasmFile),
        });
      return new OpenClawWatch({
        ...options,
        source: new (await import('../../node/transfer/openClaw/findOpenClaw')).OpenClawFolder(place.folder, key),
      });
    },
  };
}

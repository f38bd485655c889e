/** A behaviour of one of the five designs, in few words of its own. */
export interface Behaviour {
  /** Counted from 1 within its design. */
  readonly number: number;
  readonly says: string;
  /** `path/of/suite: beginning of the title`, below test/unit where the path begins with nothing else; those that drive it. */
  readonly tests: readonly string[];
  /** Why nothing drives it; such a behaviour is listed as missing. */
  readonly missing?: string;
}

export interface Design {
  /** `000` to `004`. */
  readonly seed: string;
  readonly name: string;
  readonly behaviours: readonly Behaviour[];
}

/** Numbers the behaviours in the order of the document: a row is what it says, then its tests, or why there is none. */
export function design(
  seed: string,
  name: string,
  rows: readonly (readonly [says: string, ...tests: (string | { readonly missing: string })[]])[],
): Design {
  return {
    seed,
    name,
    behaviours: rows.map(([says, ...proofs], i) => {
      const missing = proofs.find((proof) => typeof proof !== 'string');
      return {
        number: i + 1,
        says,
        tests: proofs.filter((proof) => typeof proof === 'string'),
        ...(missing ? { missing: missing.missing } : {}),
      };
    }),
  };
}

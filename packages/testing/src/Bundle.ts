import { join } from "node:path"
import { inject } from "vitest"

/** The bundled programs, and the folder of their compile cache. */
export interface Programs {
  readonly folder: string
  readonly cache: string
}

declare module "vitest" {
  interface ProvidedContext {
    /** Only in the fault tests and the browser tests. */
    readonly programs?: Programs
  }
}

/**
 * The file of a program to start, and the environment with which it starts fastest: in the fault and browser tests the
 * bundle that is shipped, elsewhere the source.
 *
 * @param name the program in the bundle: `control-plane`, `all-in-one`, `runplane`
 * @param source its source file
 */
export const programFile = (
  name: string,
  source: string
): { readonly main: string; readonly env: Readonly<Record<string, string>> } => {
  const programs = inject("programs")
  return programs === undefined
    ? { main: source, env: {} }
    : { main: join(programs.folder, "lib", `${name}.js`), env: { NODE_COMPILE_CACHE: programs.cache } }
}

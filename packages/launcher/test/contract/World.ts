import { existsSync, readFileSync, rmSync } from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Launcher } from "../../src/Launcher.ts"
import { makeTree, writeTree } from "../fixtures/DiskTree.ts"
import type { MemoryTree } from "../fixtures/MemoryFiles.ts"
import type { Neighbour } from "../fixtures/Servers.ts"
import { makeAuthService, makeControlPlane } from "./Neighbours.ts"
import { packsTree } from "./PacksTree.ts"

/** A launch service on a port of the loopback, over packs on disk, with stub servers for its neighbours. */
export class World extends Context.Service<
  World,
  {
    readonly url: string
    readonly port: number
    /** Folder that holds the packs and what the agents write. */
    readonly root: string
    readonly auth: Neighbour
    readonly controlPlane: Neighbour
    /** Puts files into the packs directory, or takes one away, until the scope closes. */
    readonly withFiles: (files: FileChanges) => Effect.Effect<void>
    readonly restore: Effect.Effect<void>
    /** The notes of the agents since the last call, one line each. */
    readonly journal: () => ReadonlyArray<string>
  }
>()("runplane/launcher/test/World") {}

/** Texts by path within the packs directory; null for a file that shall not be there. */
export type FileChanges = Readonly<Record<string, string | null>>

export interface WorldOptions {
  /** Settings beside those that name the world's own servers and folders; an empty one counts as unset. */
  readonly env?: Readonly<Record<string, string>>
  readonly tree?: MemoryTree
}

/** Neighbours that answer at all do so before this, however busy the machine is, ms. */
const NEIGHBOUR_TIMEOUT_MS = "30000"

export const layerWorld = ({ env = {}, tree = packsTree }: WorldOptions = {}) =>
  Layer.effect(
    World,
    Effect.gen(function* () {
      const root = yield* makeTree(tree)
      const auth = yield* makeAuthService
      const controlPlane = yield* makeControlPlane(auth)
      const context = yield* Layer.build(
        Launcher.layerConfig({ host: "127.0.0.1", port: 0 }).pipe(
          Layer.provide(
            ConfigProvider.layer(
              ConfigProvider.fromEnv({
                preserveEmptyStrings: true,
                env: {
                  NODE_ENV: "test",
                  SERVICE_NAME: "contract-launcher",
                  THROTTLE_LIMIT: "100000",
                  PACKS_DIR: `${root}/packs`,
                  SERVICE_ROOT: root,
                  REGISTER_POLICIES_ON_LAUNCH: "false",
                  PROTO_AUTH_SERVICE_URL: auth.url,
                  PROTO_AUTH_SERVICE_TIMEOUT_MS: NEIGHBOUR_TIMEOUT_MS,
                  PROTO_CONTROL_PLANE_URL: controlPlane.url,
                  PROTO_CONTROL_PLANE_TIMEOUT_MS: NEIGHBOUR_TIMEOUT_MS,
                  PROTO_RUNTIME_ADDRESS: "runtime.test:50051",
                  TMPDIR: root,
                  ...env
                }
              })
            )
          )
        )
      )
      const { port, url } = Context.get(context, Launcher)
      const journalFile = `${root}/journal`
      const changed = new Map<string, string | undefined>()
      const fileOf = (path: string) => `${root}/packs/${path}`
      return World.of({
        url,
        port,
        root,
        auth,
        controlPlane,
        withFiles: (files) =>
          Effect.sync(() => {
            for (const [path, content] of Object.entries(files)) {
              changed.set(path, existsSync(fileOf(path)) ? readFileSync(fileOf(path), "utf8") : undefined)
              if (content === null) rmSync(fileOf(path))
              else writeTree(`${root}/packs/`, { [path]: content })
            }
          }),
        restore: Effect.sync(() => {
          for (const [path, before] of changed) {
            if (before === undefined) rmSync(fileOf(path), { force: true })
            else writeTree(`${root}/packs/`, { [path]: before })
          }
          changed.clear()
        }),
        journal: () => {
          const text = existsSync(journalFile) ? readFileSync(journalFile, "utf8") : ""
          rmSync(journalFile, { force: true })
          return text.split("\n").filter((line) => line !== "")
        }
      })
    })
  ).pipe(Layer.provideMerge(NodeFileSystem.layer))

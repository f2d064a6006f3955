import { clients } from "./Clients.ts"
import { controlPlane } from "./ControlPlane.ts"
import { domain } from "./Domain.ts"
import { programs } from "./Programs.ts"
import type { FolderTables } from "./Rules.ts"

/** The folder of the tables, for the messages of failures. */
export const DECLARATION = "packages/checks/src/declaration"

/**
 * The order of knowledge inside a package, or inside a folder of one, from the top to the bottom. A key is a folder, or
 * a file that stands beside the folders; files that are not named compose what the table is of: they may know
 * everything, and no folder may import them.
 */
export const FOLDERS: FolderTables = { ...controlPlane, ...domain, ...clients, ...programs }

/**
 * Arrows of today that the tables do not allow, as `package: from > to`. One that no longer occurs has to go from here.
 */
export const FOLDER_EXCEPTIONS: ReadonlyArray<string> = [
  // A rule makes the subscription of its own action.
  "control-plane/src/features: alerts > webhooks"
]

/** Circles of files of today, each as `circlesOf` names it. One that no longer occurs has to go from here. */
export const CIRCLE_EXCEPTIONS: ReadonlyArray<string> = []

import { join } from "node:path"
import { PROJECT_FOLDER } from "@runplane/server"

/** The packs of Runplane itself, in the checkout, the installed package and the image. */
export const OWN_PACKS = join(PROJECT_FOLDER, "packs")

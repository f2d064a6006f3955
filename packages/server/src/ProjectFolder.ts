import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** What lies in the project's folder and nowhere else above a file of ours. */
const MARKER = "migrations"

/** The nearest folder above the file that holds `migrations/`. */
export const projectFolderOf = (file: string): string => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, MARKER))) return folder
    if (folder === dirname(folder))
      throw new Error(`no folder above ${file} holds ${MARKER}/: a part of Runplane is missing`)
  }
}

/**
 * Where `migrations/`, `packs/` and the built console are: the checkout, the installed package, or the image's `/app`.
 * The search goes upwards from the running file, because sources and bundle are at different depths.
 */
export const PROJECT_FOLDER: string = projectFolderOf(fileURLToPath(import.meta.url))

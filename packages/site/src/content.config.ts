import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { docsSchema } from "@astrojs/starlight/schema"
import { defineCollection } from "astro/content/config"
import { glob, type Loader } from "astro/loaders"
import { PAGES, pageId, ROOT } from "./Pages.ts"

const files = glob({ base: ROOT, pattern: PAGES, generateId: ({ entry }) => pageId(entry) })

/** The documents of the repository as they are. The first heading is the title of the page. */
const documents: Loader = {
  ...files,
  load: async (context) => {
    await files.load({
      ...context,
      parseData: (entry) => {
        const path = resolve(import.meta.dirname, "..", entry.filePath ?? "")
        const [, title] = /^# (.+)$/m.exec(readFileSync(path, "utf8")) ?? []
        return context.parseData({ ...entry, data: { title, ...entry.data } })
      }
    })
    // The loader logs why, and goes on with an empty page.
    const failed = context.store.values().filter(({ rendered }) => rendered === undefined)
    if (failed.length > 0) throw new Error(`pages that cannot be rendered: ${failed.map(({ id }) => id).join(", ")}`)
  }
}

export const collections = { docs: defineCollection({ loader: documents, schema: docsSchema() }) }

import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { satteri } from "@astrojs/markdown-satteri"
import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"
import starlightOpenAPI, { createOpenAPISidebarGroup } from "starlight-openapi"
import { documents } from "./src/Markdown.ts"
import { ROOT } from "./src/Pages.ts"
import { navigation } from "./src/Shelves.ts"

/** The OpenAPI documents. Their server is the one that serves them; the examples here are for `npm start`. */
const services = [
  { name: "control-plane", label: "API of the control plane", port: 3001 },
  { name: "launcher", label: "API of the launch service", port: 3000 }
].map(({ name, label, port }) => {
  const document = JSON.parse(readFileSync(join(ROOT, "packages/api/openapi", `${name}.json`), "utf8"))
  const schema = join(import.meta.dirname, ".astro/openapi", `${name}.json`)
  mkdirSync(dirname(schema), { recursive: true })
  writeFileSync(schema, JSON.stringify({ ...document, servers: [{ url: `http://127.0.0.1:${port}` }] }))
  return { base: `api/${name}`, schema, sidebar: { label, group: createOpenAPISidebarGroup() } }
})

/** The page makes its search when the browser is idle. Without this: after any time on a busy machine. */
const searchAtLast = `{
  const idle = window.requestIdleCallback
  if (idle) window.requestIdleCallback = (work, options) => idle.call(window, work, { timeout: 1000, ...options })
}`

const references = services.map(({ sidebar }) => sidebar.group)

export default defineConfig({
  publicDir: "../console/public",
  image: { service: passthroughImageService() },
  markdown: {
    processor: satteri({
      features: { smartPunctuation: false },
      mdastPlugins: [documents(process.env["SITE_BASE"] ?? "")]
    })
  },
  integrations: [
    starlight({
      title: "Runplane",
      head: [{ tag: "script", content: searchAtLast }],
      customCss: ["./src/styles.css"],
      social: [{ icon: "github", label: "GitHub", href: "https://github.com/runplane/runplane" }],
      markdown: { processedDirs: [ROOT] },
      sidebar: [
        { label: "Runplane", slug: "index" },
        { label: "Documents", slug: "documents" },
        ...navigation().flatMap((shelf) => (shelf.label === "Reference" ? [shelf, ...references] : [shelf]))
      ],
      plugins: [starlightOpenAPI(services)]
    })
  ]
})

import { relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { defineMdastPlugin, type MdastPluginInput } from "satteri"
import { addressOf, ROOT } from "./Pages.ts"

/** Links between documents become addresses of the site. The title is not repeated: the page shows it by itself. */
export const documents =
  (base: string): MdastPluginInput =>
  ({ fileURL }) => {
    if (fileURL === undefined) return undefined
    const file = relative(ROOT, fileURLToPath(fileURL)).split(sep).join("/")
    return defineMdastPlugin({
      name: "documents",
      heading: (node, context) => {
        if (node.depth === 1) context.removeNode(node)
      },
      link: (node, context) => context.setProperty(node, "url", addressOf(file, node.url, base)),
      definition: (node, context) => context.setProperty(node, "url", addressOf(file, node.url, base))
    })
  }

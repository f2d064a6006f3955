import { Kbd } from "../ui/basics.tsx"
import { activeShortcuts } from "../ui/Keys.ts"

/** The keys that work on this page, by group. */
export default function KeyboardHelp() {
  const shortcuts = activeShortcuts()
  const groups = [...new Set(shortcuts.map(({ group }) => group))]
  return (
    <div className="grid gap-5 p-4 sm:grid-cols-2">
      {groups.map((group) => (
        <section key={group}>
          <h3 className="label mb-1">{group}</h3>
          <dl>
            {shortcuts
              .filter((shortcut) => shortcut.group === group)
              .map(({ keys, says }) => (
                <div key={keys} className="flex items-center justify-between gap-3 py-1">
                  <dt>{says}</dt>
                  <dd>
                    <Kbd keys={keys} />
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

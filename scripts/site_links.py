"""A hook of mkdocs: links that lead out of docs/, to the sources, become plain text, because the site does not have these files."""
import os
import re


def on_page_markdown(markdown, page, config, **_):
    folder = os.path.dirname(page.file.abs_src_path)

    def keep_inside(link):
        target = os.path.normpath(os.path.join(folder, link[2].split("#")[0]))
        return link[0] if target.startswith(config["docs_dir"]) else link[1]

    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)", keep_inside, markdown)

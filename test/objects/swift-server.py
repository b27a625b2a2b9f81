"""An S3-compatible store that verifies signatures, written by others: OpenStack Swift with s3api and tempauth.

All four servers of it run in this one process, on loopback, over one folder: swift-server.py FOLDER ACCESS_KEY SECRET
prints one JSON line with the port when it is ready. It ends with its standard input.
"""
import eventlet
eventlet.monkey_patch()

import json
import os
import sys
import threading

folder, access_key, secret = sys.argv[1:4]
account, user = access_key.split(':')
region = 'us-east-1'


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = lapel\nswift_hash_path_prefix = lapel\n'
      '[storage-policy:0]\nname = only\ndefault = yes\n')

# Read at import by the others, so it comes first.
from swift.common import utils
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')

import xattr
from eventlet import wsgi
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies
from swift.common.wsgi import loadapp

try:
    xattr.setxattr(os.path.join(folder, 'swift.conf'), 'user.lapel', b'1')
except OSError as error:
    print(json.dumps({'unavailable': 'the file system has no extended attributes: %s' % error}), flush=True)
    sys.exit(0)

utils.validate_configuration()
reload_storage_policies()
sockets = {name: eventlet.listen(('127.0.0.1', 0)) for name in ('account', 'container', 'object', 'proxy')}
os.makedirs(os.path.join(folder, 'devices', 'd0'))
for name in ('account', 'container', 'object'):
    builder = RingBuilder(1, 1, 1)
    port = sockets[name].getsockname()[1]
    builder.add_dev({'region': 1, 'zone': 1, 'weight': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'd0', 'meta': '',
                     'replication_ip': '127.0.0.1', 'replication_port': port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + '.ring.gz'))


class Cache(object):
    """tempauth refuses to work without memcached; one process needs no more than this."""

    def __init__(self):
        self.items = {}

    def get(self, key, **_):
        return self.items.get(key)

    def set(self, key, value, **_):
        self.items[key] = value

    def delete(self, key, **_):
        self.items.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.items[key] = int(self.items.get(key, 0)) + delta
        return self.items[key]


def server(name):
    common = '[DEFAULT]\nswift_dir = %s\ndevices = %s\nmount_check = false\nlog_level = ERROR\n' % (
        folder, os.path.join(folder, 'devices'))
    conf = write(name + '-server.conf', common + '[pipeline:main]\npipeline = %s-server\n'
                 '[app:%s-server]\nuse = egg:swift#%s\n' % (name, name, name))
    return loadapp(conf, global_conf={'swift_dir': folder}, allow_modify_pipeline=False)


def proxy():
    conf = write('proxy-server.conf', '''[DEFAULT]
swift_dir = %s
log_level = ERROR
[pipeline:main]
pipeline = catch_errors s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = %s
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_%s_%s = %s .admin
''' % (folder, region, account, user, secret))
    return loadapp(conf, global_conf={'swift_dir': folder}, allow_modify_pipeline=False)


class Quiet(object):
    def write(self, *_):
        pass


apps = {name: server(name) for name in ('account', 'container', 'object')}
front, cache = proxy(), Cache()


def with_cache(environ, start_response):
    environ['swift.cache'] = cache
    return front(environ, start_response)


apps['proxy'] = with_cache
logger = utils.get_logger({}, 'swift')
for name, app in apps.items():
    # Swift's own protocol class does not decode the path; eventlet's would.
    from swift.common.wsgi import SwiftHttpProtocol
    eventlet.spawn(wsgi.server, sockets[name], app, log=Quiet(), protocol=SwiftHttpProtocol, log_output=False)

eventlet.sleep(0)
port = sockets['proxy'].getsockname()[1]
print(json.dumps({'endpoint': 'http://127.0.0.1:%d' % port, 'region': region}), flush=True)
eventlet.tpool.execute(sys.stdin.read)
os._exit(0)
